-- Words of a chunk that OCR read with low confidence, as JSON: [["500,000", 3], ["경조금", 3]] (word and page).
ALTER TABLE chunks ADD COLUMN doubtful TEXT;
