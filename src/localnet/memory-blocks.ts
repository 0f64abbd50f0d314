import type { Address } from '../ledger/address.ts';
import { allKeys } from '../ledger/message/message-keys.ts';
import type { Signature } from '../ledger/signature.ts';
import { type Slot, slot } from '../ledger/units.ts';
import type { BlockStore } from './embedded-ledger.ts';
import type { AddressSignature, Block, History } from './node.ts';
import { blockOf, type SlotRecord } from './slot-record.ts';

/** Blocks in memory only. */
export class MemoryBlocks implements BlockStore {
  readonly firstAvailableSlot: Slot = slot(0);
  readonly #blocks: Block[] = [];
  readonly #signatures = new Map<Signature, NonNullable<ReturnType<History['locate']>>>();
  readonly #addresses = new Map<Address, AddressSignature[]>();

  get durableSlot(): number {
    return this.#blocks.length - 1;
  }

  append(record: SlotRecord): void {
    const block = blockOf(record);
    this.#blocks.push(block);
    for (const [index, { transaction, meta }] of record.transactions.entries()) {
      const signature = transaction.signatures[0] as Signature;
      this.#signatures.set(signature, { slot: block.slot, index, err: meta.err });
      for (const key of allKeys(transaction.message, meta.loadedAddresses)) {
        const list = this.#addresses.get(key) ?? [];
        this.#addresses.set(key, list);
        list.push({ signature, slot: block.slot, index });
      }
    }
  }

  block(at: Slot): Block | null {
    return this.#blocks[Number(at)] ?? null;
  }

  blockTime(at: Slot): bigint | null {
    return this.#blocks[Number(at)]?.blockTime ?? null;
  }

  locate(signature: Signature): ReturnType<History['locate']> {
    return this.#signatures.get(signature) ?? null;
  }

  signaturesForAddress(
    address: Address,
    options: Parameters<History['signaturesForAddress']>[1],
  ): AddressSignature[] {
    const all = [...(this.#addresses.get(address) ?? [])].reverse();
    const position = (signature: Signature | undefined): { slot: bigint; index: number } | null =>
      signature === undefined ? null : this.locate(signature);
    const before = position(options.before);
    const until = position(options.until);
    const isOlder = (a: { slot: bigint; index: number }, b: { slot: bigint; index: number }): boolean =>
      a.slot < b.slot || (a.slot === b.slot && a.index < b.index);
    return all
      .filter((entry) => entry.slot <= options.highestSlot)
      .filter((entry) => before === null || isOlder(entry, before))
      .filter((entry) => until === null || isOlder(until, entry))
      .slice(0, options.limit);
  }
}
