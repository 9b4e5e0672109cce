/** Stock: reserved when an order is placed, released when the customer does not pay in time. */

export class OutOfStock extends Error {
  constructor(readonly sku: string, readonly missing: number) {
    super(`${sku}: ${missing} pieces missing`);
  }
}

interface Reservation {
  orderId: string;
  sku: string;
  quantity: number;
  expiresAtMs: number;
}

export const RESERVATION_TTL_MS = 15 * 60 * 1000;

export class Inventory {
  private available = new Map<string, number>();
  private reservations: Reservation[] = [];

  restock(sku: string, quantity: number): void {
    this.available.set(sku, (this.available.get(sku) ?? 0) + quantity);
  }

  /** Holds goods for an order for a quarter of an hour. All or nothing: on a shortage nothing stays reserved. */
  reserve(orderId: string, wanted: Map<string, number>, nowMs: number): void {
    for (const [sku, quantity] of wanted) {
      const have = this.available.get(sku) ?? 0;
      if (have < quantity) throw new OutOfStock(sku, quantity - have);
    }
    for (const [sku, quantity] of wanted) {
      this.available.set(sku, (this.available.get(sku) ?? 0) - quantity);
      this.reservations.push({ orderId, sku, quantity, expiresAtMs: nowMs + RESERVATION_TTL_MS });
    }
  }

  /** Gives the goods of unpaid orders back to the shelf and returns the orders concerned. */
  releaseExpired(nowMs: number): string[] {
    const expired = this.reservations.filter((r) => r.expiresAtMs <= nowMs);
    this.reservations = this.reservations.filter((r) => r.expiresAtMs > nowMs);
    for (const r of expired) this.restock(r.sku, r.quantity);
    return [...new Set(expired.map((r) => r.orderId))];
  }

  confirm(orderId: string): void {
    this.reservations = this.reservations.filter((r) => r.orderId !== orderId);
  }
}
