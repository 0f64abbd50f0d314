import { signatureBytes } from '../../../src/ledger/signature.ts';
import type { Commitment } from '../../../src/protocol/commitment.ts';
import { encodeSubscribeRequest } from '../../../src/protocol/geyser/subscribe-request.ts';
import { decodeSubscribeUpdate } from '../../../src/protocol/geyser/subscribe-update.ts';
import type { GrpcStatus } from '../../../src/protocol/grpc/status.ts';
import { geyserLimits } from '../../../src/upstream/feeds/geyser/geyser-limits.ts';
import { GrpcStream } from '../../../src/upstream/feeds/geyser/grpc-stream.ts';
import { type Drawing, DrawnLedger, numbersIn, ownerOf } from './drawn-ledger.ts';

/**
 * Readers of the gateway's gRPC door, in a process of their own: each hears of one owner and holds what it heard
 * against the drawn ledger, slot by slot. The last one hears everything and reads nothing.
 * Arguments: the door's URL, the key, how many readers, the drawing as JSON.
 */

const [, , url = '', token = '', countText = '100', drawingText = '{}'] = process.argv;
const count = Number(countText);
const drawing = JSON.parse(drawingText) as Drawing;
const ledger = new DrawnLedger(drawing);
const commitments: readonly Commitment[] = ['processed', 'confirmed', 'finalized'];
const REPORT_MS = 1_000;
const FAULTS_KEPT = 20;

/** What the readers found, since the process began. */
export type Found = Readonly<{
  messages: number;
  slots: number;
  faults: readonly string[];
  faultCount: number;
  /** How the streams of the one that reads nothing ended. */
  lagged: readonly string[];
}>;

const found = { messages: 0, slots: 0, faults: [] as string[], faultCount: 0, lagged: [] as string[] };

function fault(text: string): void {
  found.faultCount++;
  if (found.faults.length < FAULTS_KEPT) found.faults.push(text);
}

function open(
  request: Uint8Array,
  take: (bytes: Buffer) => void,
  ended: (status: GrpcStatus) => void,
): GrpcStream {
  const options = { ...geyserLimits, url, headers: { 'x-token': token }, method: '/geyser.Geyser/Subscribe' };
  const stream = new GrpcStream(options, { opened: () => {}, message: take, ended });
  stream.send(request);
  return stream;
}

/** Holds what comes against what is owed. */
class Reader {
  readonly #number: number;
  readonly #commitment: Commitment;
  readonly #heard = new Map<number, Set<number>>();
  /** The last slot that was told at the commitment; null before the first. */
  #last: number | null = null;

  constructor(number: number) {
    this.#number = number;
    this.#commitment = commitments[number % commitments.length]!;
    const name = `reader-${number}`;
    const request = encodeSubscribeRequest({
      accounts: new Map([[name, { owner: [ownerOf(number)] }]]),
      transactions: new Map([[name, { accountInclude: [ownerOf(number)] }]]),
      slots: new Map([[name, {}]]),
      commitment: this.#commitment,
    });
    open(
      request,
      (bytes) => this.#take(bytes),
      ({ code, message }) => fault(`reader ${number} ended: ${code} ${message}`),
    );
  }

  #take(bytes: Buffer): void {
    const { update } = decodeSubscribeUpdate(bytes);
    if (update === null) return;
    if (update.kind === 'account') this.#hear(signatureBytes(update.write.signature!));
    else if (update.kind === 'transaction') this.#hear(signatureBytes(update.placed.signature));
    else if (update.kind === 'slot' && update.status === this.#commitment) this.#reached(Number(update.slot));
  }

  #hear(signature: Uint8Array): void {
    found.messages++;
    const { slot, nth } = numbersIn(signature);
    if (this.#last !== null && slot <= this.#last) {
      fault(`reader ${this.#number}: ${nth} of slot ${slot} came after slot ${this.#last} was over`);
      return;
    }
    const heard = this.#heard.get(slot) ?? new Set();
    this.#heard.set(slot, heard);
    if (heard.has(nth)) fault(`reader ${this.#number}: ${nth} of slot ${slot} came twice`);
    heard.add(nth);
  }

  #reached(slot: number): void {
    const heard = this.#heard.get(slot) ?? new Set();
    this.#heard.delete(slot);
    const isFirst = this.#last === null;
    if (this.#last !== null && slot !== this.#last + 1) {
      fault(`reader ${this.#number}: slot ${slot} came after slot ${this.#last}`);
    }
    this.#last = slot;
    // The first slot may have begun before the request was read.
    if (isFirst) return;
    found.slots++;
    const missing = ledger.owed(slot, this.#number).filter((nth) => !heard.has(nth));
    if (missing.length > 0)
      fault(`reader ${this.#number}: slot ${slot} lacks ${missing.length}: ${missing.slice(0, 5)}`);
  }
}

/** Asks for everything and reads nothing, again and again. */
function lag(): void {
  const request = encodeSubscribeRequest({
    accounts: new Map([['all', {}]]),
    transactions: new Map([['all', {}]]),
    blocks: new Map([['all', { includeAccounts: true }]]),
  });
  const stream = open(
    request,
    () => {},
    ({ code, message }) => {
      found.lagged.push(`${code} ${message}`);
      lag();
    },
  );
  stream.pause();
  // Nobody who does not read hears that it is over; it looks now and then.
  setTimeout(() => stream.resume(), 60_000);
}

for (let number = 0; number < count - 1; number++) new Reader(number);
lag();
setInterval(() => process.send?.(found satisfies Found), REPORT_MS);
process.on('disconnect', () => process.exit());
