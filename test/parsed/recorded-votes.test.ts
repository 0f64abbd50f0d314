import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parseJson, writeJson } from '../../src/base/json.ts';
import { type Address, addressFromBytes } from '../../src/ledger/address.ts';
import { parseInstruction } from '../../src/ledger/parsed/parse-instruction.ts';

/** Needs ../shared/data/blocks: three mainnet blocks as protobuf solana.storage.ConfirmedBlock. */
const folder = join(import.meta.dirname, '../../../shared/data/blocks');

type Field = { number: number; bytes: Uint8Array; value: number };

/** The fields of a protobuf message: varints, and bytes with a length. */
function fieldsOf(message: Uint8Array): Field[] {
  const fields: Field[] = [];
  let at = 0;
  const varint = (): number => {
    let value = 0;
    for (let factor = 1; ; factor *= 128) {
      const byte = message[at++] ?? 0;
      value += (byte & 0x7f) * factor;
      if (byte < 0x80) return value;
    }
  };
  while (at < message.length) {
    const tag = varint();
    const value = tag % 8 === 1 ? 8 : varint();
    const isBytes = tag % 8 === 2;
    const size = isBytes || tag % 8 === 1 ? value : 0;
    fields.push({ number: tag >> 3, value, bytes: message.subarray(at, at + size) });
    at += size;
  }
  return fields;
}

const inside = (message: Uint8Array, number: number): Uint8Array[] =>
  fieldsOf(message)
    .filter((field) => field.number === number)
    .map(({ bytes }) => bytes);

type Shown = {
  program: string;
  programId: Address;
  parsed: { type: string; info: { vote: { slots: number[]; hash: string } } };
};

/** Every instruction of a block that is parsed. */
function parsedIn(file: string): Shown[] {
  const transactions = inside(readFileSync(join(folder, file)), 4).flatMap((entry) => inside(entry, 1));
  return transactions.flatMap((transaction) => {
    const message = inside(transaction, 2)[0] ?? new Uint8Array();
    const keys = inside(message, 2).map(addressFromBytes);
    return inside(message, 4).flatMap((compiled) => {
      const fields = fieldsOf(compiled);
      const instruction = {
        programIdIndex: fields.find(({ number }) => number === 1)?.value ?? 0,
        accounts: fields.find(({ number }) => number === 2)?.bytes ?? new Uint8Array(),
        data: fields.find(({ number }) => number === 3)?.bytes ?? new Uint8Array(),
      };
      const programId = keys[instruction.programIdIndex];
      const parsed = programId === undefined ? null : parseInstruction(programId, instruction, keys);
      return parsed === null ? [] : [parseJson(writeJson(parsed)) as unknown as Shown];
    });
  });
}

const expected: [string, number][] = [
  ['18144001.bincode', 89],
  ['43200000.bincode', 192],
];

describe.skipIf(!existsSync(folder))('votes of real blocks (../shared/data, blocks)', () => {
  it.each(expected)('are all understood in %s', (file, count) => {
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
