/** Who is logged in: random tokens, sliding expiry, and logging out everywhere. */

import { createHash, randomBytes } from "node:crypto";

interface Session {
  customerId: string;
  lastSeenMs: number;
}

export const IDLE_LIMIT_MS = 30 * 60 * 1000;

export class SessionStore {
  /** Only the hash of a token is kept, so that a leaked table opens no account. */
  private sessions = new Map<string, Session>();

  create(customerId: string, nowMs: number): string {
    const token = randomBytes(32).toString("base64url");
    this.sessions.set(hashToken(token), { customerId, lastSeenMs: nowMs });
    return token;
  }

  /** Returns the customer and pushes the expiry forward, or null after half an hour without a request. */
  touch(token: string, nowMs: number): string | null {
    const key = hashToken(token);
    const session = this.sessions.get(key);
    if (!session) return null;
    if (nowMs - session.lastSeenMs > IDLE_LIMIT_MS) {
      this.sessions.delete(key);
      return null;
    }
    session.lastSeenMs = nowMs;
    return session.customerId;
  }

  revokeAll(customerId: string): number {
    const keys = [...this.sessions].filter(([, s]) => s.customerId === customerId).map(([key]) => key);
    keys.forEach((key) => this.sessions.delete(key));
    return keys.length;
  }
}

function hashToken(token: string): string {
  return createHash("sha256").update(token).digest("hex");
}
