/** What is done to nodes. */
export const injectedFaults = [
  'killed',
  'frozen',
  'slow',
  'narrow',
  'breaking-off',
  'behind',
  'stuck',
] as const;
export type InjectedFault = (typeof injectedFaults)[number];

/** And what nobody did: on a machine that is too busy, a node that has nothing does not answer either. */
const nodeFaults = [...injectedFaults, 'starved'] as const;
export type NodeFault = (typeof nodeFaults)[number];

/** One illness of one node, from when it was about to begin until it was over. Times are those of `performance.now()`. */
export type FaultPeriod = {
  readonly node: number;
  readonly fault: NodeFault;
  readonly from: number;
  to: number;
};

/** A node that was ill is called well after so long: what it held back has left, and it takes connections again. */
export const GRACE_MS = 500;
/** A node that was well for so long after a read began could have answered it, however long the read took. */
export const ANSWER_WINDOW_MS = 20_000;

/** What lasts longer than anybody looks is not over. */
const seconds = (ms: number): string => (Number.isFinite(ms) ? `${(ms / 1_000).toFixed(1)} s` : 'now');

/** Which node was ill when: says of every read whether a node could have answered it. */
export class FaultHistory {
  readonly #names: readonly string[];
  #periods: FaultPeriod[] = [];
  readonly #total = new Map<NodeFault, { count: number; ms: number }>();

  /** @param names - of the nodes. */
  constructor(names: readonly string[]) {
    this.#names = names;
  }

  /** @returns what `end` wants. */
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

  /** Whether the node has anything just now. */
  isFaulty(node: number): boolean {
    return this.#periods.some((one) => one.node === node && one.to === Number.POSITIVE_INFINITY);
  }

  /** Whether one node was well all the while, as long as anybody needs. */
  wasAnswerable(from: number, to: number): boolean {
    const until = Math.min(to, from + ANSWER_WINDOW_MS);
    return this.#names.some((_, node) =>
      this.#during(from - GRACE_MS, until).every((one) => one.node !== node),
    );
  }

  /** Whether one node was well for so long, at some time. */
  hadWellNodeFor(ms: number, from: number, to: number): boolean {
    return this.#names.some((_, node) => {
      let wellFrom = from;
      for (const one of this.#during(from - GRACE_MS, to).filter((each) => each.node === node)) {
        if (one.from - wellFrom >= ms) return true;
        wellFrom = Math.max(wellFrom, one.to + GRACE_MS);
      }
      return to - wellFrom >= ms;
    });
  }

  /** What the nodes had, in words, with the times counted from `from`. */
  describe(from: number, to: number): string {
    const texts = this.#names.map((name, node) => {
      const own = this.#during(from - GRACE_MS, to).filter((one) => one.node === node);
      if (own.length === 0) return `${name} well`;
      return `${name} ${own.map((one) => `${one.fault} from ${seconds(one.from - from)} to ${seconds(one.to - from)}`)}`;
    });
    return texts.join('; ');
  }

  /** The illnesses that some node had. */
  kinds(from: number, to: number): ReadonlySet<NodeFault> {
    return new Set(this.#during(from, to).map(({ fault }) => fault));
  }

  /** How often each illness was over, and for how long nodes had it. */
  totals(): { fault: NodeFault; count: number; seconds: number }[] {
    return nodeFaults.map((fault) => {
      const { count, ms } = this.#total.get(fault) ?? { count: 0, ms: 0 };
      return { fault, count, seconds: Math.round(ms / 1_000) };
    });
  }

  /** What was over by then is asked for no more. */
  forget(before: number): void {
    this.#periods = this.#periods.filter(({ to }) => to >= before);
  }

  /** In the order in which they began. */
  #during(from: number, to: number): FaultPeriod[] {
    return this.#periods
      .filter((one) => one.from < to && one.to > from)
      .toSorted((one, other) => one.from - other.from);
  }
}
