import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { decodeTransferInstruction, TOKEN_PROGRAM_ID } from '@solana/spl-token';
import { PublicKey, SystemInstruction, TransactionInstruction } from '@solana/web3.js';
import { describe, expect, it } from 'vitest';
import { type JsonValue, parseJson, writeJson } from '../../src/base/json.ts';
import type { Address } from '../../src/solana/address.ts';
import { encodeBase58 } from '../../src/solana/base58.ts';
import { encodeParsedInstruction } from '../../src/solana/encoding/ui-instruction.ts';
import type { CompiledInstruction } from '../../src/solana/message/message.ts';
import { programs } from '../../src/solana/programs.ts';
import { slot } from '../../src/solana/units.ts';
import { decodeConfirmedBlock } from '../recorded/confirmed-block.ts';

/** Needs ../shared/data/blocks: three mainnet blocks as protobuf solana.storage.ConfirmedBlock. */
const folder = join(import.meta.dirname, '../../../shared/data/blocks');
const present = existsSync(folder);

type Seen = Readonly<{
  instruction: CompiledInstruction;
  keys: readonly Address[];
  stackHeight: number | null;
}>;

/** All instructions of a block, inner ones included. */
function instructionsIn(file: string): Seen[] {
  const { transactions } = decodeConfirmedBlock(readFileSync(join(folder, file)), slot(0));
  return transactions.flatMap(({ transaction: { message }, meta }) => {
    const inner = (meta.innerInstructions ?? []).flatMap(({ instructions }) => instructions);
    const seen = (instruction: CompiledInstruction, stackHeight: number | null): Seen => ({
      instruction,
      keys: message.accountKeys,
      stackHeight,
    });
    return [
      ...message.instructions.map((instruction) => seen(instruction, 1)),
      ...inner.map((instruction) => seen(instruction, instruction.stackHeight)),
    ];
  });
}

const shown = ({ instruction, keys, stackHeight }: Seen): Record<string, JsonValue> =>
  parseJson(writeJson(encodeParsedInstruction(instruction, keys, stackHeight))) as Record<string, JsonValue>;

/** Form for the published libraries. */
const published = ({ instruction, keys }: Seen): TransactionInstruction =>
  new TransactionInstruction({
    programId: new PublicKey(keys[instruction.programIdIndex] as Address),
    keys: Array.from(instruction.accounts, (index) => ({
      pubkey: new PublicKey(keys[index] as Address),
      isSigner: false,
      isWritable: false,
    })),
    data: Buffer.from(instruction.data),
  });

/** Instruction counts; unparsed ones count as `partial`. */
const counts: readonly (readonly [file: string, kinds: Readonly<Record<string, number>>])[] = [
  ['18144001.bincode', { 'vote vote': 89 }],
  ['43200000.bincode', { 'vote vote': 192, 'spl-token transfer': 38, 'system transfer': 10, partial: 32 }],
  ['64800004.bincode', { 'spl-token transfer': 8, partial: 32 }],
];

describe.skipIf(!present)('instructions of real blocks (../shared/data, blocks)', () => {
  it.each(counts)('of %s have the known types', (file, kinds) => {
    const found: Record<string, number> = {};
    for (const seen of instructionsIn(file)) {
      const { program, parsed } = shown(seen);
      const kind = parsed === undefined ? 'partial' : `${program} ${(parsed as { type: string }).type}`;
      found[kind] = (found[kind] ?? 0) + 1;
    }
    expect(found).toEqual(kinds);
  });

  it.each(counts)('of %s match the published libraries', (file) => {
    const blockSlot = Number.parseInt(file, 10);
    for (const seen of instructionsIn(file)) {
      const programId = seen.keys[seen.instruction.programIdIndex];
      const { parsed } = shown(seen) as { parsed?: { info: Record<string, JsonValue> } };
      if (programId === programs.system) {
        const { fromPubkey, toPubkey, lamports } = SystemInstruction.decodeTransfer(published(seen));
        expect(parsed?.info).toEqual({
          source: fromPubkey.toBase58(),
          destination: toPubkey.toBase58(),
          lamports: Number(lamports),
        });
      } else if (programId === programs.token) {
        const { keys, data } = decodeTransferInstruction(published(seen), TOKEN_PROGRAM_ID);
        expect(parsed?.info).toMatchObject({
          source: keys.source.pubkey.toBase58(),
          destination: keys.destination.pubkey.toBase58(),
          amount: String(data.amount),
        });
      } else if (programId === programs.vote) {
        const [last = 0] = ((parsed?.info.vote as { slots: number[] } | undefined)?.slots ?? []).slice(-1);
        expect(blockSlot - last).toBeGreaterThan(0);
        expect(blockSlot - last).toBeLessThan(1_000);
      }
    }
  });

  it.each(counts)('of %s keep accounts and data when unparsed', (file) => {
    for (const seen of instructionsIn(file)) {
      const { instruction, keys, stackHeight } = seen;
      const found = shown(seen);
      if (found.parsed !== undefined) continue;
      expect(found).toEqual({
        accounts: Array.from(instruction.accounts, (index) => keys[index]),
        data: encodeBase58(instruction.data),
        programId: keys[instruction.programIdIndex],
        stackHeight,
      });
    }
  });
});
