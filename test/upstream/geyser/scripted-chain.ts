import { status } from '@grpc/grpc-js';
import { Keypair } from '../../../src/solana/ed25519.ts';
import type { GeyserServer, GeyserStream, UpdateMessage } from '../feeds/geyser-server.ts';
import {
  account,
  accountIs,
  endOf,
  signatureOf,
  slotIs,
  transactionIs,
  transfer,
} from '../feeds/geyser-updates.ts';
import { sendOn } from './source-rig.ts';

/** The same chain on every server: two transfers per slot, each writing an account. */
export const FIRST_SLOT = 100;
export const LAST_SLOT = 140;
export const TRANSACTIONS = 2;
export const writtenAddress = Keypair.fromSeed(new Uint8Array(32).fill(1)).address;

/** Lags behind `processed`, in slots. */
const CONFIRMED_LAG = 2;
const FINALIZED_LAG = 4;

export const transferAt = (slot: number, index: number) =>
  transfer((slot - FIRST_SLOT) * TRANSACTIONS + index + 1);

export const signatureAt = (slot: number, index: number): string => signatureOf(transferAt(slot, index));

/** Increases with each write. */
export const lamportsAt = (slot: number, index: number): number => slot * 10 + index;

/** @param version - write version of the slot's first write; each server counts from its own start. */
export function updatesOf(slot: number, version: number): UpdateMessage[] {
  const content = Array.from({ length: TRANSACTIONS }, (_, index) => {
    const transaction = transferAt(slot, index);
    const balance = account(lamportsAt(slot, index));
    const write = accountIs(slot, writtenAddress, balance, version + index, signatureOf(transaction));
    return [transactionIs(slot, transaction, index), write];
  });
  const [confirmed, finalized] = [slot - CONFIRMED_LAG, slot - FINALIZED_LAG];
  return [
    slotIs(slot, 'created'),
    ...content.flat(),
    ...endOf(slot),
    ...(confirmed < FIRST_SLOT ? [] : [slotIs(confirmed, 'confirmed')]),
    ...(finalized < FIRST_SLOT ? [] : [slotIs(finalized, 'finalized')]),
  ];
}

export class ScriptedChain {
  readonly server: GeyserServer;
  readonly #updates: readonly UpdateMessage[];
  readonly #starts = new Map<number, number>();
  readonly #streams = new Set<GeyserStream>();
  position = 0;

  constructor(server: GeyserServer, slotUpdates: (slot: number) => UpdateMessage[], replays = true) {
    this.server = server;
    const updates: UpdateMessage[] = [];
    for (let slot = FIRST_SLOT; slot <= LAST_SLOT; slot++) {
      this.#starts.set(slot, updates.length);
      updates.push(...slotUpdates(slot));
    }
    this.#updates = updates;
    server.onRequest = ({ fromSlot }, stream) => {
      if (fromSlot !== undefined && !replays) {
        stream.emit('error', { code: 13, details: 'from_slot is not supported' });
        return;
      }
      this.#streams.add(stream);
      stream.once('close', () => this.#streams.delete(stream));
      stream.once('cancelled', () => this.#streams.delete(stream));
      if (fromSlot === undefined) return;
      sendOn(stream, this.#updates.slice(this.#starts.get(Number(fromSlot)) ?? 0, this.position));
    };
  }

  get length(): number {
    return this.#updates.length;
  }

  get openStreams(): number {
    return this.#streams.size;
  }

  get tip(): number {
    const started = [...this.#starts].filter(([, start]) => start < this.position).length;
    return FIRST_SLOT + started - 2;
  }

  advance(to: number): void {
    const next = this.#updates.slice(this.position, to);
    this.position = Math.max(this.position, to);
    for (const stream of this.#streams) sendOn(stream, next);
  }

  kill(): void {
    for (const stream of this.#streams) {
      this.#streams.delete(stream);
      stream.emit('error', { code: status.UNAVAILABLE, details: 'server is shutting down' });
    }
  }
}

const HASH = '11111111111111111111111111111111';
const meta = {
  ...{ err: null, status: { Ok: null }, fee: 5_000, preBalances: [10, 1], postBalances: [5, 1] },
  ...{ innerInstructions: [], logMessages: [], preTokenBalances: [], postTokenBalances: [], rewards: [] },
  ...{ loadedAddresses: { writable: [], readonly: [] }, computeUnitsConsumed: 150 },
};

function blockAt(slot: number): unknown {
  const transactions = Array.from({ length: TRANSACTIONS }, (_, index) => {
    const bytes = Buffer.from(transferAt(slot, index).wire);
    return { transaction: [bytes.toString('base64'), 'base64'], meta, version: 'legacy' };
  });
  const header = { blockHeight: slot, blockTime: 1_700_000_000, parentSlot: slot - 1 };
  return { ...header, blockhash: HASH, previousBlockhash: HASH, transactions, rewards: [] };
}

const lags: Readonly<Record<string, number>> = { confirmed: CONFIRMED_LAG, processed: 0 };

export function respond(tip: number, method: string, params: readonly unknown[]): unknown {
  const commitment = (params.at(-1) as { commitment?: string } | undefined)?.commitment ?? 'finalized';
  const last = tip - (lags[commitment] ?? FINALIZED_LAG);
  if (method === 'getBlock') return blockAt(Number(params[0]));
  if (method === 'getBlocks') {
    const [from, to] = [Number(params[0]), Math.min(Number(params[1]), last)];
    return Array.from({ length: Math.max(0, to - from + 1) }, (_, at) => from + at);
  }
  if (method === 'getSignatureStatuses') return { context: { slot: tip }, value: [null] };
  return method === 'getSlot' ? last : tip;
}
