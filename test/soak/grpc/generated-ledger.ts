import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { createLogger } from '../../../src/base/log.ts';
import type { Commitment } from '../../../src/protocol/commitment.ts';
import { encodeTimestamp } from '../../../src/protocol/geyser/encode/envelope.ts';
import { rawAccount } from '../../../src/protocol/geyser/encode/raw-account.ts';
import { rawTransaction } from '../../../src/protocol/geyser/encode/raw-transaction.ts';
import type { RawUpdate } from '../../../src/protocol/geyser/raw-update.ts';
import { GrpcServer } from '../../../src/servers/grpc/server.ts';
import type { Account } from '../../../src/solana/account/account.ts';
import { type Address, addressFromBytes } from '../../../src/solana/address.ts';
import { blockhashFromBytes } from '../../../src/solana/blockhash.ts';
import { encodeMessage } from '../../../src/solana/message/message.ts';
import { programs } from '../../../src/solana/programs.ts';
import { signatureFromBytes } from '../../../src/solana/signature.ts';
import { compileMessage } from '../../../src/solana/transaction/compile-message.ts';
import { encodeTransaction } from '../../../src/solana/transaction/encode-transaction.ts';
import { lamports, slot as slotOf } from '../../../src/solana/units.ts';
import { UnauthenticatedHandler } from '../../../src/streams/geyser/geyser-handler.ts';
import { GeyserHub } from '../../../src/streams/geyser/geyser-hub.ts';
import { meta, status } from '../../streams/raw-slots.ts';

const FIRST_SLOT = 1_000;
const lags: Readonly<Record<Commitment, number>> = { processed: 0, confirmed: 2, finalized: 32 };
const DATA_BYTES = 700;
/** Slots stored for replay after an outage. */
const REMEMBERED = 100;
const TICK_MS = 10;
const MANY = 1024 ** 3;

const createdAt = encodeTimestamp(1_790_000_000_000n);
const executedMeta = {
  ...{ err: null, fee: lamports(5_000), innerInstructions: [], logMessages: ['Program log: a'] },
  ...{ preBalances: [lamports(10)], postBalances: [lamports(10)], rewards: [], returnData: null },
  ...{ preTokenBalances: [], postTokenBalances: [], loadedAddresses: { writable: [], readonly: [] } },
  ...{ computeUnitsConsumed: 150n, costUnits: 300n },
} as const;

/** Bytes that contain a slot and the number of an update in it. */
function numbered(length: number, fill: number, slot: number, nth: number): Uint8Array {
  const bytes = new Uint8Array(length).fill(fill);
  const view = new DataView(bytes.buffer);
  view.setUint32(0, slot);
  view.setUint32(4, nth);
  return bytes;
}

export const ownerOf = (reader: number): Address => addressFromBytes(numbered(32, 21, 0, reader));

export function numbersIn(signature: Uint8Array): Readonly<{ slot: number; nth: number }> {
  const view = new DataView(signature.buffer, signature.byteOffset, signature.length);
  return { slot: view.getUint32(0), nth: view.getUint32(4) };
}

/** Equal parameters generate equal ledgers. */
export type LedgerParameters = Readonly<{
  /** Start of the first slot, in Unix milliseconds. */
  startedAt: number;
  slotMs: number;
  /** Updates per slot: half account writes, half transactions. */
  updatesPerSlot: number;
  /** Number of account owners: one per reader. */
  owners: number;
}>;

/** A ledger whose slots and updates are derived from the time, with a JSON-RPC and a Yellowstone server. */
export class GeneratedLedger {
  readonly #parameters: LedgerParameters;
  readonly #hub = new GeyserHub({ replaySlots: REMEMBERED });
  readonly #messages;
  #slot = FIRST_SLOT;
  #sent = 0;

  constructor(parameters: LedgerParameters) {
    this.#parameters = parameters;
    this.#messages = Array.from({ length: parameters.owners }, (_, reader) => {
      const accounts = [{ address: ownerOf(reader), signer: false, writable: true }];
      const message = compileMessage({
        feePayer: programs.stake,
        recentBlockhash: blockhashFromBytes(new Uint8Array(32).fill(4)),
        instructions: [{ programId: programs.system, accounts, data: new Uint8Array(120) }],
      });
      return { message, messageBytes: encodeMessage(message) };
    });
  }

  /** Starts both servers, which run until the process exits. */
  async serve(): Promise<{ rpcPort: number; grpcPort: number }> {
    const log = createLogger('error', (line) => process.stderr.write(`${line}\n`));
    const server = new GrpcServer(
      { handler: new UnauthenticatedHandler(this.#hub), health: () => true, log },
      { port: 0, queueMaxBytes: MANY, queueMaxMessages: MANY, queuesMaxBytes: MANY },
    );
    this.#catchUp();
    setInterval(() => this.#catchUp(), TICK_MS);
    const rpc = createServer(async (request, response) => {
      const { id, method } = JSON.parse(await text(request)) as { id: unknown; method: string };
      const result = method === 'getSlot' ? this.slotAt(Date.now()) : method === 'getHealth' ? 'ok' : null;
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify({ jsonrpc: '2.0', id, result }));
    });
    await new Promise<void>((resolve) => rpc.listen(0, '127.0.0.1', resolve));
    const { port } = await server.listen();
    return { rpcPort: (rpc.address() as AddressInfo).port, grpcPort: port };
  }

  slotAt(unixMs: number): number {
    const { startedAt, slotMs } = this.#parameters;
    return FIRST_SLOT + Math.floor((unixMs - startedAt) / slotMs);
  }

  reachesAt(slot: number, commitment: Commitment): number {
    const { startedAt, slotMs } = this.#parameters;
    return startedAt + (slot + lags[commitment] + 1 - FIRST_SLOT) * slotMs;
  }

  /** Whether an account has the state that the given update wrote. */
  isState(slot: number, nth: number, account: Account): boolean {
    const { data } = account;
    return Number(account.lamports) === slot && data.length === DATA_BYTES && data[0] === nth % 256;
  }

  owed(slot: number, reader: number): number[] {
    const numbers = Array.from({ length: this.#parameters.updatesPerSlot }, (_, nth) => nth);
    return numbers.filter((nth) => this.#readerOf(slot, nth) === reader);
  }

  #readerOf(slot: number, nth: number): number {
    return (slot * 13 + nth) % this.#parameters.owners;
  }

  #catchUp(): void {
    const { startedAt, slotMs, updatesPerSlot } = this.#parameters;
    for (const now = Date.now(); ; this.#slot++, this.#sent = 0) {
      const age = now - startedAt - (this.#slot - FIRST_SLOT) * slotMs;
      const due = Math.min(updatesPerSlot, Math.floor((age / slotMs) * updatesPerSlot));
      if (this.#sent === 0 && due > 0) this.#hub.onUpdate(status(this.#slot, 'createdBank'));
      for (; this.#sent < due; this.#sent++) this.#hub.onUpdate(this.#update(this.#slot, this.#sent));
      if (this.#sent < updatesPerSlot) return;
      for (const update of this.#end(this.#slot)) this.#hub.onUpdate(update);
    }
  }

  /** The end of a slot, and the commitments that earlier slots reach at that time. */
  #end(slot: number): RawUpdate[] {
    const reached = (['confirmed', 'finalized'] as const).filter((level) => slot - lags[level] >= FIRST_SLOT);
    return [
      meta(slot),
      status(slot, 'processed'),
      ...reached.map((level) => status(slot - lags[level], level)),
    ];
  }

  /** Writes have even numbers, transactions odd ones. */
  #update(slot: number, nth: number): RawUpdate {
    const reader = this.#readerOf(slot, nth);
    const bytes = numbered(64, 3, slot, nth);
    const signature = signatureFromBytes(bytes);
    if (nth % 2 === 1) {
      const { message, messageBytes } = this.#messages[reader]!;
      const wire = encodeTransaction([bytes], messageBytes);
      const executed = {
        transaction: { signatures: [signature], message, messageBytes, wire },
        meta: executedMeta,
      };
      const info = { signature, isVote: false, executed, index: (nth - 1) / 2 };
      return rawTransaction({ slot: slotOf(slot), createdAt, info });
    }
    const account = {
      ...{ lamports: lamports(slot), data: new Uint8Array(DATA_BYTES).fill(nth), owner: ownerOf(reader) },
      ...{ executable: false, rentEpoch: 0n },
    };
    // No account is written twice in a slot, so that the updates are the same at all commitments.
    const address = addressFromBytes(numbered(32, 23, 0, nth));
    const writeVersion = BigInt(slot * this.#parameters.updatesPerSlot + nth);
    const write = { address, account, writeVersion, signature };
    return rawAccount({ slot: slotOf(slot), createdAt, isStartup: false, write });
  }
}
