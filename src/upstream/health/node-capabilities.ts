import type { MethodName } from '../../protocol/methods.ts';
import type { MissingCapability } from '../../protocol/node-errors.ts';
import { type Slot, slot as slotOf } from '../../solana/units.ts';
import type { UpstreamLimits } from '../limits.ts';

type CapabilityLimits = Pick<UpstreamLimits, 'capabilityMs' | 'unhealthyMs'>;

const FIRST_SLOT = slotOf(0n);
const METHODS_MAX = 64;
/** Longer method names are ignored: they come from clients, not from the method table. */
const METHOD_LENGTH_MAX = 64;

/** Source: Agave, `--account-index`. */
export const accountIndexes = ['program-id', 'spl-token-owner', 'spl-token-mint'] as const;
export type AccountIndex = (typeof accountIndexes)[number];

/** Methods that scan all accounts of a program without the index. Source: Agave rpc/src/rpc.rs. */
const methodsByIndex: Readonly<Record<AccountIndex, readonly MethodName[]>> = {
  'program-id': ['getProgramAccounts'],
  'spl-token-owner': ['getTokenAccountsByOwner'],
  'spl-token-mint': ['getTokenLargestAccounts'],
};

/** Capabilities in the configuration of a node. Absent or null: learned. */
export type DeclaredCapabilities = Readonly<{
  archive?: boolean | null;
  indexes?: readonly AccountIndex[] | null;
}>;

function methodsWithoutIndex(indexes: readonly AccountIndex[]): ReadonlySet<string> {
  const missing = accountIndexes.filter((index) => !indexes.includes(index));
  return new Set(missing.flatMap((index) => methodsByIndex[index]));
}

/** Declared capabilities, and those that a node was observed to lack. */
export class NodeCapabilities {
  /** Whether the node has the whole history; null if not declared. */
  readonly archive: boolean | null;
  /** Methods for which a declared index is missing; null if none is. */
  readonly #withoutIndex: ReadonlySet<string> | null;
  #firstAvailable: Slot | null = null;
  readonly #limits: CapabilityLimits;
  readonly #missing = new Map<string, Readonly<{ from: bigint | null; to: bigint | null; until: number }>>();

  constructor(limits: CapabilityLimits, { archive = null, indexes = null }: DeclaredCapabilities = {}) {
    this.#limits = limits;
    this.archive = archive;
    this.#withoutIndex = indexes === null ? null : methodsWithoutIndex(indexes);
  }

  /** First block that the node has; null if unknown. */
  get firstAvailable(): Slot | null {
    return this.archive === true ? FIRST_SLOT : this.#firstAvailable;
  }

  set firstAvailable(slot: Slot | null) {
    this.#firstAvailable = slot;
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
    if (this.#withoutIndex?.has(method) === true) return true;
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
