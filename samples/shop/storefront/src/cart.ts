/** The shopping cart: lines, quantities, coupons. */

export interface CartLine {
  sku: string;
  title: string;
  unitPriceWon: number;
  quantity: number;
}

export interface Coupon {
  code: string;
  percent: number;
  minimumWon: number;
  expiresAt: Date;
}

export class CouponRejected extends Error {}

export const MAX_QUANTITY_PER_LINE = 20;

export class Cart {
  private lines = new Map<string, CartLine>();
  private coupon: Coupon | null = null;

  /** Adds goods; the same article twice becomes one line, never more than twenty pieces of it. */
  add(line: CartLine): void {
    const present = this.lines.get(line.sku);
    const quantity = (present?.quantity ?? 0) + line.quantity;
    this.lines.set(line.sku, { ...line, quantity: Math.min(quantity, MAX_QUANTITY_PER_LINE) });
  }

  remove(sku: string): void {
    this.lines.delete(sku);
  }

  subtotalWon(): number {
    let sum = 0;
    for (const line of this.lines.values()) sum += line.unitPriceWon * line.quantity;
    return sum;
  }

  /** Checks expiry and minimum amount before a discount code is accepted. */
  applyCoupon(coupon: Coupon, now: Date): void {
    if (coupon.expiresAt <= now) throw new CouponRejected(`coupon ${coupon.code} has expired`);
    if (this.subtotalWon() < coupon.minimumWon) {
      throw new CouponRejected(`coupon ${coupon.code} needs at least ${coupon.minimumWon} won`);
    }
    this.coupon = coupon;
  }

  totalWon(): number {
    const subtotal = this.subtotalWon();
    return this.coupon ? Math.floor((subtotal * (100 - this.coupon.percent)) / 100) : subtotal;
  }

  contents(): CartLine[] {
    return [...this.lines.values()];
  }
}
