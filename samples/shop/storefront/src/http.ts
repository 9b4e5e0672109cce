/** Requests to other services: a time limit and a circuit breaker. */

export class CircuitOpen extends Error {}

/** Stops calling a service that keeps failing, and lets one request through after a pause to see whether it is back. */
export class CircuitBreaker {
  private failures = 0;
  private openedAtMs: number | null = null;

  constructor(private threshold = 5, private pauseMs = 30_000) {}

  async call<T>(request: () => Promise<T>, nowMs: number): Promise<T> {
    if (this.openedAtMs !== null && nowMs - this.openedAtMs < this.pauseMs) {
      throw new CircuitOpen("the service failed too often; waiting before the next try");
    }
    try {
      const result = await request();
      this.failures = 0;
      this.openedAtMs = null;
      return result;
    } catch (failure) {
      this.failures += 1;
      if (this.failures >= this.threshold) this.openedAtMs = nowMs;
      throw failure;
    }
  }
}

/** Rejects when the answer takes longer than the limit. */
export async function withTimeout<T>(work: Promise<T>, limitMs: number): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const limit = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer within ${limitMs} ms`)), limitMs);
  });
  try {
    return await Promise.race([work, limit]);
  } finally {
    clearTimeout(timer);
  }
}
