import { type Commitment, commitments } from '../../../src/protocol/commitment.ts';
import { encodeSubscribeRequest } from '../../../src/protocol/geyser/subscribe-request.ts';
import type { Update } from '../../../src/protocol/geyser/update/decode-update.ts';
import { signatureBytes } from '../../../src/solana/signature.ts';
import { decodedUpdate } from '../../geyser/re-encode.ts';
import { type GeneratedLedger, numbersIn, ownerOf } from './generated-ledger.ts';
import { openStream, type StreamOptions } from './stream.ts';

/** Time until all subscriptions are active. */
const SETTLED_MS = 8_000;
/** Pause of the stream that does not read, shorter than the gateway's timeout; it then checks whether it was ended. */
const PAUSE_MS = 5_000;
const CHECK_MS = 1_500;
/** A small window, so that the gateway detects the pause soon. */
const PAUSED_WINDOW_BYTES = 64 * 1024;
const FAULTS_MAX = 20;

type Content = Extract<Update, { kind: 'account' | 'transaction' }>;

type Reader = Readonly<{
  number: number;
  commitment: Commitment;
  received: Map<number, Set<number>>;
  reached: Map<string, number>;
}>;

/**
 * Streams that each receive the updates of one owner of a generated ledger and compare every slot with it. One more
 * subscribes to everything and repeatedly stops reading for a while.
 */
export class GeneratedReaders {
  /** Received account writes and transactions. */
  messages = 0;
  /** Slots compared with the ledger, counted per reader. */
  slots = 0;
  faultCount = 0;
  /** The first faults. */
  readonly faults: string[] = [];
  /** Status messages with which the stream that does not read ended. */
  readonly lagged: string[] = [];
  /** Delay of slots at their commitment, in milliseconds. */
  readonly lateness: number[] = [];
  readonly #ledger: GeneratedLedger;
  readonly #stream: StreamOptions;
  readonly #readers: readonly Reader[];
  /** First slot to compare: nodes receive the filter on subscription, so earlier slots may be incomplete. */
  readonly #from: number;

  constructor(ledger: GeneratedLedger, stream: StreamOptions, count: number) {
    this.#ledger = ledger;
    this.#stream = stream;
    this.#from = ledger.slotAt(Date.now() + SETTLED_MS) + 1;
    this.#readers = Array.from({ length: count }, (_, number) => this.#open(number));
    this.#lag();
  }

  /** How many slots the slowest reader of each commitment is behind. */
  behind(slotMs: number): number[] {
    return commitments.map((level) => {
      const own = this.#readers.filter(({ commitment }) => commitment === level);
      const lowest = Math.min(...own.map(({ reached }) => reached.get(level) ?? 0));
      return (Date.now() - this.#ledger.reachesAt(lowest, level)) / slotMs;
    });
  }

  #open(number: number): Reader {
    const commitment = commitments[number % commitments.length]!;
    const reader: Reader = { number, commitment, received: new Map(), reached: new Map() };
    const name = `reader-${number}`;
    const request = encodeSubscribeRequest({
      accounts: new Map([[name, { owner: [ownerOf(number)] }]]),
      transactions: new Map([[name, { accountInclude: [ownerOf(number)] }]]),
      ...{ slots: new Map([[name, {}]]), commitment },
    });
    const onMessage = (bytes: Buffer): void => {
      const update = decodedUpdate(bytes);
      if (update?.kind === 'account' || update?.kind === 'transaction') this.#receive(reader, update);
      else if (update?.kind === 'slot') this.#recordStatus(reader, Number(update.slot), update.status);
    };
    openStream(this.#stream, request, onMessage, (why) => this.#fault(reader, `ended: ${why}`));
    return reader;
  }

  #receive(reader: Reader, update: Content): void {
    this.messages++;
    const signature = update.kind === 'account' ? update.write.signature! : update.info.signature;
    const { slot, nth } = numbersIn(signatureBytes(signature));
    const lastSlot = reader.reached.get(reader.commitment) ?? 0;
    const incoming = reader.received.get(slot) ?? new Set();
    const isOther = update.kind === 'account' && !this.#ledger.isState(slot, nth, update.write.account);
    const what = `${nth} of slot ${slot}`;
    if (Number(update.slot) !== slot) this.#fault(reader, `${what} came as of ${update.slot}`);
    if (isOther) this.#fault(reader, `${what} is not what was written`);
    if (slot <= lastSlot) this.#fault(reader, `${what} came after slot ${lastSlot} was over`);
    if (incoming.has(nth)) this.#fault(reader, `${what} came twice`);
    reader.received.set(slot, incoming.add(nth));
  }

  #recordStatus(reader: Reader, slot: number, status: string): void {
    const last = reader.reached.get(status);
    if (last !== undefined && slot !== last + 1)
      this.#fault(reader, `that slot ${slot} is ${status} came after slot ${last}`);
    reader.reached.set(status, slot);
    if (status !== reader.commitment) return;
    const incoming = reader.received.get(slot) ?? new Set();
    reader.received.delete(slot);
    if (slot < this.#from) return;
    this.slots++;
    this.lateness.push(Date.now() - this.#ledger.reachesAt(slot, reader.commitment));
    const missing = this.#ledger.owed(slot, reader.number).filter((nth) => !incoming.has(nth));
    if (missing.length > 0)
      this.#fault(reader, `slot ${slot} lacks ${missing.length}: ${missing.slice(0, 5).join(', ')}`);
  }

  #lag(): void {
    const all = new Map([['all', {}]]);
    const options = { ...this.#stream, windowBytes: PAUSED_WINDOW_BYTES };
    let timer: NodeJS.Timeout;
    const onEnd = (why: string): void => {
      clearTimeout(timer);
      this.lagged.push(why);
      this.#lag();
    };
    const request = encodeSubscribeRequest({ accounts: all, transactions: all });
    const stream = openStream(options, request, () => {}, onEnd);
    const pause = (): void => {
      stream.pause();
      timer = setTimeout(check, PAUSE_MS);
    };
    // A paused stream does not detect its end.
    const check = (): void => {
      stream.resume();
      timer = setTimeout(pause, CHECK_MS);
    };
    pause();
  }

  #fault({ number, commitment }: Reader, text: string): void {
    this.faultCount++;
    if (this.faults.length < FAULTS_MAX) this.faults.push(`reader ${number} (${commitment}): ${text}`);
  }
}
