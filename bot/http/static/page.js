import { startCompose, startForms } from "./compose.js";
import { startEvidence } from "./evidence.js";
import { startLive } from "./live.js";
import { localTimes } from "./texts.js";

localTimes(document);
startLive();
startCompose();
startForms();
startEvidence();
