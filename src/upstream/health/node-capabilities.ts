import type { MissingCapability } from '../../protocol/node-errors.ts';
import type { Slot } from '../../solana/units.ts';
import type { UpstreamLimits } from '../limits.ts';

type CapabilityLimits = Pick<UpstreamLimits, 'capabilityMs' | 'unhealthyMs'>;

const METHODS_MAX = 64;
/** Longer method names are ignored: they come from clients, not from the method table. */
const METHOD_LENGTH_MAX = 64;

/** Capabilities that a node was observed to lack. */
export class NodeCapabilities {
  /** First block that the node has; null if unknown. */
  firstAvailable: Slot | null = null;
  readonly #limits: CapabilityLimits;
  readonly #missing = new Map<string, Readonly<{ from: bigint | null; to: bigint | null; until: number }>>();

  constructor(limits: CapabilityLimits) {
    this.#limits = limits;
  }

  /** Called when another node answered a call that this node could not answer. @param slot - slot in the call. */
  recordMissing(capability: MissingCapability, method: string, slot: bigint | null, now: number): void {
    if (method.length > METHOD_LENGTH_MAX) return;
    this.#missing.delete(method);
    const [oldest] = this.#missing.keys();
    if (oldest !== undefined && this.#missing.size >= METHODS_MAX) this.#missing.delete(oldest);
    const { capabilityMs, unhealthyMs } = this.#limits;
    // Missing recent data will soon arrive.
    const until = now + (capability === 'newer' ? unhealthyMs : capabilityMs);
    this.#missing.set(method, {
      from: capability === 'newer' ? slot : null,
      to: capability === 'older' ? slot : null,
      until,
    });
  }

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

  missing(now: number): string[] {
    return [...this.#missing].filter(([, { until }]) => now < until).map(([method]) => method);
  }
}
