/** A request as its client saw it. */
export type CountedRequest = Readonly<{
  customer: string;
  key: string;
  method: string;
  network: string;
  /** Empty: the request succeeded. */
  code: string;
}>;

export type Sums = Readonly<Record<string, number>>;

/** What clients counted: requests by all their dimensions, and messages by key. */
export class ClientCounts {
  readonly #requests = new Map<string, CountedRequest & { requests: number }>();
  readonly #messages = new Map<string, Readonly<{ customer: string; messages: number }>>();

  add(request: CountedRequest): void {
    const id = Object.values(request).join('\n');
    const row = this.#requests.get(id) ?? { ...request, requests: 0 };
    row.requests++;
    this.#requests.set(id, row);
  }

  addMessages(customer: string, key: string, messages: number): void {
    this.#messages.set(key, { customer, messages: messages + (this.#messages.get(key)?.messages ?? 0) });
  }

  /** Number of requests by one dimension. */
  by(dimension: keyof CountedRequest, filter: Partial<CountedRequest> = {}, isFailed = false): Sums {
    const sums: Record<string, number> = {};
    for (const row of this.#requests.values()) {
      const isCounted = Object.entries(filter).every(([name, value]) => row[name as 'key'] === value);
      if (!isCounted || (isFailed && row.code === '')) continue;
      sums[row[dimension]] = (sums[row[dimension]] ?? 0) + row.requests;
    }
    return sums;
  }

  messagesOf(filter: Partial<Record<'customer' | 'key', string>>): number {
    let sum = 0;
    for (const [key, { customer, messages }] of this.#messages)
      if ((filter.key ?? key) === key && (filter.customer ?? customer) === customer) sum += messages;
    return sum;
  }
}

export const totalOf = (sums: Sums): number => Object.values(sums).reduce((sum, count) => sum + count, 0);
