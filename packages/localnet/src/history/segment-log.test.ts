import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../../../test/service/program.ts';
import { CorruptLog, SegmentLog } from './segment-log.ts';

let dir: string;
beforeEach(() => {
  dir = temporaryFolder('log');
});

const open = () =>
  new SegmentLog(dir, (error) => {
    throw error;
  });
const payload = (slot: number) => new TextEncoder().encode(`record of slot ${slot} `.repeat(slot + 1));
const texts = (log: SegmentLog, segment: number) =>
  [...log.scan(segment)].map(([bytes]) => Buffer.from(bytes).toString());

async function filled(slots: number): Promise<void> {
  const log = open();
  log.rotate(0);
  for (let slot = 0; slot < slots; slot++) log.append(slot, payload(slot));
  await log.close();
}

describe('segment log', () => {
  it('returns records in order and by position across segments', async () => {
    const log = open();
    log.rotate(0);
    const positions = [0, 1].map((slot) => log.append(slot, payload(slot)));
    log.rotate(2);
    positions.push(log.append(2, payload(2)));
    expect(log.segments).toEqual([0, 2]);
    expect(texts(log, 0)).toEqual([0, 1].map((slot) => Buffer.from(payload(slot)).toString()));
    for (const [slot, position] of positions.entries()) {
      expect(Buffer.from(log.read(position))).toEqual(Buffer.from(payload(slot)));
    }
    await log.close();
    expect(log.durableSlot).toBe(2);
  });

  it('becomes durable in the background', async () => {
    const log = open();
    log.rotate(0);
    log.append(0, payload(0));
    expect(log.durableSlot).toBe(-1);
    await expect.poll(() => log.durableSlot).toBe(0);
    await log.close();
  });

  it('cuts off a truncated last record', async () => {
    await filled(3);
    const file = join(dir, '000000000000.log');
    const whole = readFileSync(file);
    const two = whole.length - payload(2).length - 12;
    for (let length = two + 1; length < whole.length; length++) {
      writeFileSync(file, whole.subarray(0, length));
      expect(texts(open(), 0)).toHaveLength(2);
      expect(readFileSync(file).length).toBe(two);
    }
  });

  it('rejects other damage', async () => {
    await filled(3);
    const file = join(dir, '000000000000.log');
    const whole = readFileSync(file);
    const two = whole.length - payload(2).length - 12;
    for (let at = 0; at < two; at++) {
      const damaged = Buffer.from(whole);
      damaged[at]! ^= 0x40;
      writeFileSync(file, damaged);
      expect(() => texts(open(), 0), `byte ${at}`).toThrow(CorruptLog);
      expect(readFileSync(file).length).toBe(whole.length);
    }
  });

  it('accepts a truncated record only at the end of the last segment', async () => {
    await filled(3);
    const file = join(dir, '000000000000.log');
    writeFileSync(join(dir, '000000000003.log'), '');
    writeFileSync(file, readFileSync(file).subarray(0, -1));
    expect(() => texts(open(), 0)).toThrow(/000000000000\.log is corrupt at byte/);
  });

  it('detects damage when reading a record', async () => {
    const log = open();
    log.rotate(0);
    const position = log.append(0, payload(0));
    const bytes = readFileSync(join(dir, '000000000000.log'));
    bytes[bytes.length - 1]! ^= 1;
    writeFileSync(join(dir, '000000000000.log'), bytes);
    expect(() => log.read(position)).toThrow('000000000000.log is corrupt at byte 0');
    await log.close();
  });

  it('rejects appends after close', async () => {
    const log = open();
    log.rotate(0);
    await log.close();
    expect(() => log.append(0, payload(0))).toThrow('log is closed');
  });
});
