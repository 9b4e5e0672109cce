/** An order's life: placed, paid, shipped, delivered; or cancelled on the way. */

import { Cart } from "./cart.js";
import { Inventory } from "./inventory.js";

export type OrderState = "placed" | "paid" | "shipped" | "delivered" | "cancelled";

const ALLOWED: Record<OrderState, OrderState[]> = {
  placed: ["paid", "cancelled"],
  paid: ["shipped", "cancelled"],
  shipped: ["delivered"],
  delivered: [],
  cancelled: [],
};

export class IllegalTransition extends Error {}

export interface Order {
  id: string;
  customerId: string;
  totalWon: number;
  state: OrderState;
}

export class OrderService {
  private orders = new Map<string, Order>();

  constructor(
    private inventory: Inventory,
    private nextId: () => string,
    private charge: (order: Order) => Promise<string>,
  ) {}

  /** Reserves the stock, then charges the card; a failed payment cancels the order. */
  async place(customerId: string, cart: Cart, nowMs: number): Promise<Order> {
    const order: Order = { id: this.nextId(), customerId, totalWon: cart.totalWon(), state: "placed" };
    const wanted = new Map(cart.contents().map((line) => [line.sku, line.quantity]));
    this.inventory.reserve(order.id, wanted, nowMs);
    this.orders.set(order.id, order);
    try {
      await this.charge(order);
      this.inventory.confirm(order.id);
      return this.moveTo(order.id, "paid");
    } catch (failure) {
      this.moveTo(order.id, "cancelled");
      throw failure;
    }
  }

  /** Refuses jumps that make no sense, such as shipping an order that was not paid. */
  moveTo(orderId: string, next: OrderState): Order {
    const order = this.orders.get(orderId);
    if (!order) throw new IllegalTransition(`no order ${orderId}`);
    if (!ALLOWED[order.state].includes(next)) {
      throw new IllegalTransition(`order ${orderId} cannot go from ${order.state} to ${next}`);
    }
    const moved = { ...order, state: next };
    this.orders.set(orderId, moved);
    return moved;
  }
}
