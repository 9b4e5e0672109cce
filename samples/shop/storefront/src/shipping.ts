/** Shipping fees and delivery dates. */

export type Region = "mainland" | "jeju" | "island";

const FEE_WON: Record<Region, number> = { mainland: 3_000, jeju: 6_000, island: 9_000 };

export const FREE_SHIPPING_FROM_WON = 50_000;

/** The fee for one parcel. Mainland orders above the threshold ship free; Jeju and the islands pay only the surcharge. */
export function shippingFeeWon(region: Region, orderTotalWon: number): number {
  const fee = FEE_WON[region];
  return orderTotalWon >= FREE_SHIPPING_FROM_WON ? fee - FEE_WON.mainland : fee;
}

/** Skips weekends; orders after two in the afternoon leave on the next working day. */
export function estimateDeliveryDate(orderedAt: Date, region: Region): Date {
  const date = new Date(orderedAt);
  let days = region === "mainland" ? 1 : 3;
  if (orderedAt.getHours() >= 14) days += 1;
  while (days > 0) {
    date.setDate(date.getDate() + 1);
    const weekday = date.getDay();
    if (weekday !== 0 && weekday !== 6) days -= 1;
  }
  return date;
}
