import type { MissingCapability } from '../../protocol/node-errors.ts';
import type { Slot } from '../../solana/units.ts';

/** For how long it is remembered. */
export type CapabilityLimits = Readonly<{ capabilityMs: number; cordonMs: number }>;

/** Methods of which a node is remembered to lack something; beyond it the one learned first is forgotten. */
const METHODS_MAX = 64;
/** No method has a longer name; a caller may write anything. */
const METHOD_LENGTH_MAX = 64;

/** Null for no end. */
type MissingRange = Readonly<{ from: bigint | null; to: bigint | null; until: number }>;

/** What is known of what a node can answer. */
export class NodeCapabilities {
  /** The oldest slot whose block it has; null where it does not tell. */
  firstAvailable: Slot | null = null;
  readonly #limits: CapabilityLimits;
  readonly #missing = new Map<string, MissingRange>();

  constructor(limits: CapabilityLimits) {
    this.#limits = limits;
  }

  /**
   * Another node answered what this one could not.
   * @param slot - what the call named; null when it named none.
   */
  recordMissing(capability: MissingCapability, method: string, slot: bigint | null, now: number): void {
    if (method.length > METHOD_LENGTH_MAX) return;
    this.#missing.delete(method);
    const [oldest] = this.#missing.keys();
    if (oldest !== undefined && this.#missing.size >= METHODS_MAX) this.#missing.delete(oldest);
    const { capabilityMs, cordonMs } = this.#limits;
    // What is not there yet soon will be.
    const until = now + (capability === 'newer' ? cordonMs : capabilityMs);
    this.#missing.set(method, {
      from: capability === 'newer' ? slot : null,
      to: capability === 'older' ? slot : null,
      until,
    });
  }

  /** Whether a call would probably be asked in vain. */
  isMissing(method: string, slot: bigint | null, now: number): boolean {
    if (slot !== null && this.firstAvailable !== null && slot < this.firstAvailable) return true;
    if (this.#missing.size === 0) return false;
    const missing = this.#missing.get(method);
    if (missing === undefined) return false;
    if (now >= missing.until) {
      this.#missing.delete(method);
      return false;
    }
    if (slot === null) return true;
    return (missing.from === null || slot >= missing.from) && (missing.to === null || slot <= missing.to);
  }

  /** Methods of which it lacks something just now. */
  missing(now: number): string[] {
    return [...this.#missing].filter(([, { until }]) => now < until).map(([method]) => method);
  }
}
