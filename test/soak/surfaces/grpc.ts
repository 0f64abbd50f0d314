import { readDeshredUpdate } from '../../../src/protocol/geyser/read-deshred-update.ts';
import { readRawUpdate } from '../../../src/protocol/geyser/read-raw-update.ts';
import {
  encodeSubscribeDeshredRequest,
  encodeSubscribeRequest,
} from '../../../src/protocol/geyser/subscribe-request.ts';
import { type Address, address } from '../../../src/solana/address.ts';
import { signatureFromBytes } from '../../../src/solana/signature.ts';
import {
  decodeGetBlockHeightResponse,
  decodeGetLatestBlockhashResponse,
  decodeGetSlotResponse,
  decodeGetVersionResponse,
  decodePongResponse,
} from '../../geyser/unary-client.ts';
import { GrpcClient } from '../../service/grpc-client.ts';
import { compareWithLedger, openListeners } from '../grpc/ledger-listener.ts';
import { openStream } from '../grpc/stream.ts';
import type { SendRequest } from '../ledger-truth.ts';
import { notEvaluated, type Outcome, outcomeOf } from '../outcomes.ts';
import { Refused, Tally, WrongAnswer } from '../tally.ts';
import { measuredLoad, type Stretch, type Surface } from './surface.ts';

export type GrpcOptions = Readonly<{
  url: string;
  /** Keys for the gRPC product and for the shred stage. */
  key: string;
  stageKey: string;
  payer: string;
  /** Sends requests directly to the ledger. */
  requestLedger: SendRequest;
  callsPerSecond: number;
  sentAt: ReadonlyMap<string, number>;
  /** Packets that the kernel dropped before the gateway read them. */
  droppedPackets: () => number;
}>;

const BLOCKHASH_CHARS_MIN = 32;

/** A unary call, and a check of its response that returns a fault or null. */
type UnaryCall = Readonly<{ rpc: string; fault: (answer: Buffer) => string | null }>;

/** Checks that heights and slots never decrease: responses to later calls must not be lower. */
function rising(): () => (value: bigint) => string | null {
  let most = 0n;
  return () => {
    const least = most;
    return (value) => {
      if (value > most) most = value;
      return value >= least ? null : `${value} after ${least}`;
    };
  };
}

/** The unary calls, sent in turn. Each function creates the check for a call that starts now. */
function unaryCalls(): readonly (() => UnaryCall)[] {
  const [slots, heights] = [rising(), rising()];
  const rises = (
    rpc: string,
    check: (value: bigint) => string | null,
    decode: (answer: Buffer) => bigint,
  ) => ({
    rpc,
    fault: (answer: Buffer) => check(decode(answer)),
  });
  return [
    () => rises('GetSlot', slots(), decodeGetSlotResponse),
    () => rises('GetBlockHeight', heights(), decodeGetBlockHeightResponse),
    () => {
      const check = slots();
      const fault = (answer: Buffer): string | null => {
        const { slot, blockhash, lastValidBlockHeight } = decodeGetLatestBlockhashResponse(answer);
        const isValid = blockhash.length >= BLOCKHASH_CHARS_MIN && lastValidBlockHeight > 0n;
        return isValid ? check(slot) : `blockhash ${blockhash}`;
      };
      return { rpc: 'GetLatestBlockhash', fault };
    },
    () => ({
      rpc: 'GetVersion',
      fault: (answer) => (decodeGetVersionResponse(answer).startsWith('{') ? null : 'no version'),
    }),
    () => ({ rpc: 'Ping', fault: (answer) => (decodePongResponse(answer) === 0 ? null : 'another count') }),
  ];
}

type Transactions = Readonly<{
  messages: number;
  /** Duplicates, an early end, or no messages. */
  faults: () => string[];
  missed: (expected: readonly string[]) => string[];
  close: () => void;
}>;

/**
 * Opens a stream and counts each signature.
 * @param signatureIn - returns the signature in a message; null if it has no transaction.
 */
function openTransactions(
  { url, sentAt }: GrpcOptions,
  key: string,
  method: string,
  request: Uint8Array,
  signatureIn: (message: Buffer) => Uint8Array | null,
  tally: Tally,
): Transactions {
  const times = new Map<string, number>();
  let messages = 0;
  let ended: string | null = null;
  const take = (message: Buffer): void => {
    messages++;
    const bytes = signatureIn(message);
    const signature = bytes === null ? '' : signatureFromBytes(bytes);
    const sent = sentAt.get(signature);
    tally.took(sent === undefined ? undefined : performance.now() - sent);
    if (bytes !== null) times.set(signature, (times.get(signature) ?? 0) + 1);
  };
  const stream = openStream({ url, key, method }, request, take, (why) => {
    ended = why;
  });
  return {
    get messages() {
      return messages;
    },
    faults: () => [
      ...(ended === null ? [] : [`${method} ended: ${ended}`]),
      ...(messages === 0 ? [`${method} sent nothing`] : []),
      ...[...times].flatMap(([signature, count]) =>
        count > 1 ? [`${method} sent ${signature} ${count} times`] : [],
      ),
    ],
    missed: (expected) =>
      expected.filter((signature) => !times.has(signature)).map((one) => `${method} did not send ${one}`),
    close: () => stream.close(),
  };
}

const updateSignature = (message: Buffer): Uint8Array | null => {
  const update = readRawUpdate(message, Date.now());
  return update?.kind === 'transaction' ? update.signature : null;
};
const deshredSignature = (message: Buffer): Uint8Array | null => {
  const { update } = readDeshredUpdate(message);
  return update?.kind === 'transaction' ? update.signature : null;
};

const filterOf = (payer: string) => new Map([['payer', { accountInclude: [address(payer) as Address] }]]);
const SUBSCRIBE = '/geyser.Geyser/Subscribe';

/** Yellowstone gRPC: streams of everything at each commitment, of blocks and of one payer, and unary calls. */
export function grpcSurface(options: GrpcOptions): Surface & { landed: (stretch: Stretch) => string[] } {
  const { url, key, payer, requestLedger, callsPerSecond, sentAt } = options;
  const calls = new Tally('gRPC calls', 'answers');
  const received = new Tally('gRPC stream', 'messages');
  const client = new GrpcClient(url);
  // The first stream, at processed, is compared with the ledger; all others are compared with the first.
  const listeners = openListeners({ url, key });
  const truth = listeners[0]!;
  const request = encodeSubscribeRequest({ transactions: filterOf(payer) });
  const ofPayer = openTransactions(options, key, SUBSCRIBE, request, updateSignature, received);
  const unary = unaryCalls();
  let sent = 0;

  const call = async (): Promise<void> => {
    const { rpc, fault } = unary[sent++ % unary.length]!();
    const answer = await client.call(key, rpc);
    if (!Buffer.isBuffer(answer)) throw new Refused(answer.name || `status ${answer.status}`);
    const wrong = fault(answer);
    if (wrong !== null) throw new WrongAnswer(`${rpc}: ${wrong}`);
  };
  const landed = ({ started, stopped }: Stretch): string[] =>
    truth.order
      .filter((slot) => slot >= started && slot <= stopped)
      .flatMap((slot) => truth.slots.get(slot)?.transactions ?? []);
  const check = async (stretch: Stretch): Promise<Outcome[]> => {
    const range = [stretch.started, stretch.stopped] as const;
    const { slots, faults } = await compareWithLedger(truth, listeners, range, requestLedger);
    const messages = listeners.reduce((sum, listener) => sum + listener.received, 0);
    const owed = landed(stretch).filter((signature) => sentAt.has(signature));
    return [
      outcomeOf(
        'gRPC streams at every commitment send each slot, transaction, write and entry of the ledger once',
        `${slots.length} slots on ${listeners.length} streams, ${messages} messages`,
        faults,
      ),
      outcomeOf(
        'A gRPC stream of one payer sends each of its transactions exactly once',
        `${owed.length} transactions`,
        [...ofPayer.faults(), ...ofPayer.missed(owed)],
      ),
    ];
  };
  const close = (): void => {
    for (const each of [...listeners, ofPayer, client]) each.close();
  };
  const load = measuredLoad(calls, callsPerSecond, call);
  return { tallies: [calls, received], load, check, close, landed };
}

/** The three methods of the shred stage. @param landed - returns the signatures in the blocks of a range. */
export function shredStageSurface(
  options: GrpcOptions,
  landed: (stretch: Stretch) => readonly string[],
): Surface {
  const { stageKey, payer, sentAt, droppedPackets } = options;
  const tally = new Tally('Shred stage', 'messages');
  const filter = filterOf(payer);
  const open = (method: string, request: Uint8Array, signatureIn: typeof updateSignature) =>
    openTransactions(options, stageKey, method, request, signatureIn, tally);
  const standard = open(SUBSCRIBE, encodeSubscribeRequest({ transactions: filter }), updateSignature);
  const deshredRequest = encodeSubscribeDeshredRequest({ deshredTransactions: filter });
  const deshred = open('/geyser.Geyser/SubscribeDeshred', deshredRequest, deshredSignature);
  // Entries arrive in batches without signatures.
  const entries = open('/shredstream.ShredstreamProxy/SubscribeEntries', new Uint8Array(), () => null);

  const check = async (stretch: Stretch): Promise<Outcome[]> => {
    const owed = landed(stretch).filter((signature) => sentAt.has(signature));
    const faults = [standard, deshred, entries].flatMap((stream) => stream.faults());
    const missed = [standard, deshred].flatMap((stream) => stream.missed(owed));
    const dropped = droppedPackets();
    const promise =
      'The shred stage sends each transaction exactly once, by Subscribe and by SubscribeDeshred';
    const found = `${owed.length} transactions, ${entries.messages} batches of entries, ${dropped} packets dropped by the kernel`;
    // Packets dropped by the kernel cause missing transactions.
    if (missed.length > 0 && faults.length === 0 && dropped > 0 && stretch.wasStarved)
      return [notEvaluated(promise, `processes were starved; ${missed.length} missed; ${found}`)];
    return [outcomeOf(promise, found, [...faults, ...missed])];
  };
  const close = (): void => {
    for (const stream of [standard, deshred, entries]) stream.close();
  };
  return { tallies: [tally], check, close };
}
