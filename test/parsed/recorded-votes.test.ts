import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parseJson, writeJson } from '../../src/base/json.ts';
import { decodeConfirmedBlock } from '../recorded/confirmed-block.ts';
import type { Address } from '../../src/solana/address.ts';
import { parseInstruction } from '../../src/solana/parsed/parse-instruction.ts';
import { slot } from '../../src/solana/units.ts';

/** Needs ../shared/data/blocks: three mainnet blocks as protobuf solana.storage.ConfirmedBlock. */
const folder = join(import.meta.dirname, '../../../shared/data/blocks');

type Shown = {
  program: string;
  programId: Address;
  parsed: { type: string; info: { vote: { slots: number[]; hash: string } } };
};

function parsedIn(file: string): Shown[] {
  const { transactions } = decodeConfirmedBlock(readFileSync(join(folder, file)), slot(0));
  return transactions.flatMap(({ transaction: { message } }) =>
    message.instructions.flatMap((instruction) => {
      const programId = message.accountKeys[instruction.programIdIndex]!;
      const parsed = parseInstruction(programId, instruction, message.accountKeys);
      return parsed === null ? [] : [parseJson(writeJson(parsed)) as unknown as Shown];
    }),
  );
}

const expected: [string, number][] = [
  ['18144001.bincode', 89],
  ['43200000.bincode', 192],
];

describe.skipIf(!existsSync(folder))('votes of real blocks (../shared/data, blocks)', () => {
  it.each(expected)('are all parsed in %s', (file, count) => {
    const votes = parsedIn(file).filter(({ program }) => program === 'vote');
    expect(votes.length).toBe(count);
    const blockSlot = Number.parseInt(file, 10);
    for (const { parsed } of votes) {
      expect(parsed.type).toMatch(/^vote(Switch)?$/);
      const { slots, hash } = parsed.info.vote;
      expect(hash).toMatch(/^[1-9A-HJ-NP-Za-km-z]{43,44}$/);
      expect(slots.at(-1)).toBeLessThan(blockSlot);
      expect(slots.at(-1)).toBeGreaterThan(blockSlot - 1_000);
    }
  });
});
