import { signatureBytes } from '../../../src/ledger/signature.ts';
import { type Commitment, commitments } from '../../../src/protocol/commitment.ts';
import type { SubscribeRequest } from '../../../src/protocol/geyser/subscribe-request.ts';
import { decodeSubscribeUpdate, type Update } from '../../../src/protocol/geyser/subscribe-update.ts';
import { type DrawnLedger, numbersIn, ownerOf } from './drawn-ledger.ts';
import type { Findings } from './findings.ts';

type Content = Extract<Update, { kind: 'account' | 'transaction' }>;

/** Holds what one stream hears of one owner against the drawn ledger, slot by slot. */
export class DrawnReader {
  readonly commitment: Commitment;
  readonly #number: number;
  readonly #ledger: DrawnLedger;
  readonly #findings: Findings;
  /** Nodes are asked for what is wanted when somebody wants it: what lies before may be told in part. */
  readonly #from: number;
  readonly #heard = new Map<number, Set<number>>();
  /** The last slot of which it was told that it had come to a commitment. */
  readonly #told = new Map<string, number>();

  /** @param from - the first slot of which all must be told. */
  constructor(number: number, from: number, ledger: DrawnLedger, findings: Findings) {
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

  /** The last slot that came to the commitment; 0 for none. */
  get reached(): number {
    return this.#told.get(this.commitment) ?? 0;
  }

  take(bytes: Uint8Array): void {
    const { update } = decodeSubscribeUpdate(bytes);
    if (update?.kind === 'account' || update?.kind === 'transaction') this.#hear(update);
    else if (update?.kind === 'slot') this.#reach(Number(update.slot), update.status);
  }

  ended(words: string): void {
    this.#fault(`ended: ${words}`);
  }

  #hear(update: Content): void {
    this.#findings.messages++;
    const signature = update.kind === 'account' ? update.write.signature! : update.placed.signature;
    const { slot, nth } = numbersIn(signatureBytes(signature));
    if (Number(update.slot) !== slot) this.#fault(`${nth} of slot ${slot} came as of ${update.slot}`);
    if (update.kind === 'account' && !this.#ledger.isState(slot, nth, update.write.account)) {
      this.#fault(`${nth} of slot ${slot} is not what was written`);
    }
    if (slot <= this.reached) this.#fault(`${nth} of slot ${slot} came after slot ${this.reached} was over`);
    const heard = this.#heard.get(slot) ?? new Set();
    this.#heard.set(slot, heard);
    if (heard.has(nth)) this.#fault(`${nth} of slot ${slot} came twice`);
    heard.add(nth);
  }

  #reach(slot: number, status: string): void {
    const last = this.#told.get(status);
    if (last !== undefined && slot !== last + 1) {
      this.#fault(`that slot ${slot} is ${status} came after slot ${last}`);
    }
    this.#told.set(status, slot);
    if (status === this.commitment) this.#judge(slot);
  }

  #judge(slot: number): void {
    const heard = this.#heard.get(slot) ?? new Set();
    this.#heard.delete(slot);
    if (slot < this.#from) return;
    this.#findings.slots++;
    this.#findings.late(Date.now() - this.#ledger.reachesAt(slot, this.commitment));
    const missing = this.#ledger.owed(slot, this.#number).filter((nth) => !heard.has(nth));
    if (missing.length > 0) {
      this.#fault(`slot ${slot} lacks ${missing.length}: ${missing.slice(0, 5).join(', ')}`);
    }
  }

  #fault(text: string): void {
    this.#findings.fault(`reader ${this.#number} (${this.commitment}): ${text}`);
  }
}
