export const injectedFaults = [
  ...(['killed', 'frozen', 'slow', 'narrow', 'breaking-off', 'behind', 'stuck'] as const),
] as const;
export type InjectedFault = (typeof injectedFaults)[number];

/** Includes `starved`: a node without faults does not respond because the machine is overloaded. */
const nodeFaults = [...injectedFaults, 'starved'] as const;
export type NodeFault = (typeof nodeFaults)[number];

/** A fault of a node. Times are from `performance.now()`. */
export type FaultPeriod = {
  readonly node: number;
  readonly fault: NodeFault;
  readonly from: number;
  to: number;
};

/** Time that a node needs to recover after a fault. */
export const GRACE_MS = 500;
/** A node that is healthy for this time from the start of a read could have answered it. */
export const ANSWER_WINDOW_MS = 20_000;

const seconds = (ms: number): string => (Number.isFinite(ms) ? `${(ms / 1_000).toFixed(1)} s` : 'now');

export class FaultHistory {
  readonly #names: readonly string[];
  #periods: FaultPeriod[] = [];
  readonly #total = new Map<NodeFault, { count: number; ms: number }>();

  /** @param names - names of the nodes. */
  constructor(names: readonly string[]) {
    this.#names = names;
  }

  /** @returns the period, to be passed to `end`. */
  start(node: number, fault: NodeFault, at: number): FaultPeriod {
    const period: FaultPeriod = { node, fault, from: at, to: Number.POSITIVE_INFINITY };
    this.#periods.push(period);
    return period;
  }

  end(period: FaultPeriod, at: number): void {
    period.to = at;
    const { count, ms } = this.#total.get(period.fault) ?? { count: 0, ms: 0 };
    this.#total.set(period.fault, { count: count + 1, ms: ms + at - period.from });
  }

  isFaulty(node: number): boolean {
    return this.#periods.some((one) => one.node === node && one.to === Number.POSITIVE_INFINITY);
  }

  /** Whether one node was healthy all the time, or for the first `ANSWER_WINDOW_MS`. */
  wasAnswerable(from: number, to: number): boolean {
    const until = Math.min(to, from + ANSWER_WINDOW_MS);
    return this.#names.some((_, node) =>
      this.#during(from - GRACE_MS, until).every((one) => one.node !== node),
    );
  }

  hadHealthyNodeFor(ms: number, from: number, to: number): boolean {
    return this.#names.some((_, node) => {
      let healthyFrom = from;
      for (const one of this.#during(from - GRACE_MS, to).filter((each) => each.node === node)) {
        if (one.from - healthyFrom >= ms) return true;
        healthyFrom = Math.max(healthyFrom, one.to + GRACE_MS);
      }
      return to - healthyFrom >= ms;
    });
  }

  describe(from: number, to: number): string {
    const texts = this.#names.map((name, node) => {
      const own = this.#during(from - GRACE_MS, to).filter((one) => one.node === node);
      if (own.length === 0) return `${name} healthy`;
      return `${name} ${own.map((one) => `${one.fault} from ${seconds(one.from - from)} to ${seconds(one.to - from)}`)}`;
    });
    return texts.join('; ');
  }

  kinds(from: number, to: number): ReadonlySet<NodeFault> {
    return new Set(this.#during(from, to).map(({ fault }) => fault));
  }

  totals(): { fault: NodeFault; count: number; seconds: number }[] {
    return nodeFaults.map((fault) => {
      const { count, ms } = this.#total.get(fault) ?? { count: 0, ms: 0 };
      return { fault, count, seconds: Math.round(ms / 1_000) };
    });
  }

  forget(before: number): void {
    this.#periods = this.#periods.filter(({ to }) => to >= before);
  }

  /** Periods in the range, in order of their start. */
  #during(from: number, to: number): FaultPeriod[] {
    return this.#periods
      .filter((one) => one.from < to && one.to > from)
      .toSorted((one, other) => one.from - other.from);
  }
}
