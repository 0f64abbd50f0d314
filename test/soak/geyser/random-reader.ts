import { type Commitment, commitments } from '../../../src/protocol/commitment.ts';
import type { SubscribeRequest } from '../../../src/protocol/geyser/subscribe-request.ts';
import { decodeSubscribeUpdate, type Update } from '../../../src/protocol/geyser/subscribe-update.ts';
import { signatureBytes } from '../../../src/solana/signature.ts';
import type { Findings } from './findings.ts';
import { numbersIn, ownerOf, type RandomLedger } from './random-ledger.ts';

type Content = Extract<Update, { kind: 'account' | 'transaction' }>;

/** Compares the updates of one owner with the generated ledger, slot by slot. */
export class RandomReader {
  readonly commitment: Commitment;
  readonly #number: number;
  readonly #ledger: RandomLedger;
  readonly #findings: Findings;
  /** Nodes receive the filter on subscription: earlier slots may be incomplete. */
  readonly #from: number;
  readonly #received = new Map<number, Set<number>>();
  /** The last slot at each status. */
  readonly #emitted = new Map<string, number>();

  /** @param from - the first slot that must be complete. */
  constructor(number: number, from: number, ledger: RandomLedger, findings: Findings) {
    this.#number = number;
    this.#from = from;
    this.#ledger = ledger;
    this.#findings = findings;
    this.commitment = commitments[number % commitments.length]!;
  }

  get request(): SubscribeRequest {
    const name = `reader-${this.#number}`;
    return {
      accounts: new Map([[name, { owner: [ownerOf(this.#number)] }]]),
      transactions: new Map([[name, { accountInclude: [ownerOf(this.#number)] }]]),
      slots: new Map([[name, {}]]),
      commitment: this.commitment,
    };
  }

  /** The last slot at the commitment; 0 for none. */
  get progress(): number {
    return this.#emitted.get(this.commitment) ?? 0;
  }

  take(bytes: Uint8Array): void {
    const { update } = decodeSubscribeUpdate(bytes);
    if (update?.kind === 'account' || update?.kind === 'transaction') this.#receive(update);
    else if (update?.kind === 'slot') this.#recordStatus(Number(update.slot), update.status);
  }

  ended(text: string): void {
    this.#fault(`ended: ${text}`);
  }

  #receive(update: Content): void {
    this.#findings.messages++;
    const signature = update.kind === 'account' ? update.write.signature! : update.info.signature;
    const { slot, nth } = numbersIn(signatureBytes(signature));
    if (Number(update.slot) !== slot) this.#fault(`${nth} of slot ${slot} came as of ${update.slot}`);
    if (update.kind === 'account' && !this.#ledger.isState(slot, nth, update.write.account)) {
      this.#fault(`${nth} of slot ${slot} is not what was written`);
    }
    if (slot <= this.progress)
      this.#fault(`${nth} of slot ${slot} came after slot ${this.progress} was over`);
    const incoming = this.#received.get(slot) ?? new Set();
    this.#received.set(slot, incoming);
    if (incoming.has(nth)) this.#fault(`${nth} of slot ${slot} came twice`);
    incoming.add(nth);
  }

  #recordStatus(slot: number, status: string): void {
    const last = this.#emitted.get(status);
    if (last !== undefined && slot !== last + 1) {
      this.#fault(`that slot ${slot} is ${status} came after slot ${last}`);
    }
    this.#emitted.set(status, slot);
    if (status === this.commitment) this.#check(slot);
  }

  #check(slot: number): void {
    const incoming = this.#received.get(slot) ?? new Set();
    this.#received.delete(slot);
    if (slot < this.#from) return;
    this.#findings.slots++;
    this.#findings.late(Date.now() - this.#ledger.reachesAt(slot, this.commitment));
    const missing = this.#ledger.owed(slot, this.#number).filter((nth) => !incoming.has(nth));
    if (missing.length > 0) {
      this.#fault(`slot ${slot} lacks ${missing.length}: ${missing.slice(0, 5).join(', ')}`);
    }
  }

  #fault(text: string): void {
    this.#findings.fault(`reader ${this.#number} (${this.commitment}): ${text}`);
  }
}
