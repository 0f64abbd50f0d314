import { describe, expect, it } from 'vitest';
import { eventLimits, readEvents } from '../../../src/decoding/transaction/events/read-events.ts';
import { programs } from '../../../src/solana/programs.ts';
import { encodeEvent } from './encode-layout.ts';
import { emitEvent, executedTransaction, type InstructionSpec, named } from './transaction-builder.ts';

const JUPITER = 'JUP6LkbZbjS1jKKwapdHNy74zcZ3tLUZoi5QNyVTaV4';
const OKX = '6m2CDdhRgxpH4WjvdzxAYbGxwdGUz5MziiL5jek2kBma';
const CPMM = 'CPMMoo8L3F4NbTegBCKVNunggL7H1ZpdTHKxQB5qKP1C';
const RAYDIUM = '675kPX9MHTjS2zt1qfr1NYHuzeLXfQM9H24wFSUt1Mp8';

const fee = (amount: bigint) => ({ account: named('account'), mint: named('mint'), amount });
const step = (amount: bigint) => ({ dex: 4, amount_in: amount, amount_out: 2n });
const dataLine = (program: string, name: string, members: Record<string, unknown>): string =>
  `Program data: ${Buffer.from(encodeEvent(program, name, members)).toString('base64')}`;

const invoke = (program: string, height: number): string => `Program ${program} invoke [${height}]`;
const success = (program: string): string => `Program ${program} success`;
const plain = (program: string, height: number | null): InstructionSpec => ({ program, height });

const read = (specs: readonly InstructionSpec[], logs: readonly string[] = [], err?: string) =>
  readEvents(executedTransaction(specs, { logs, ...(err === undefined ? {} : { err }) })).map(
    ({ index, name, data }) => [index, name, data.amount ?? data.amount_in ?? data.input_amount],
  );

describe('readEvents', () => {
  it('reads self-calls', () => {
    const specs = [plain(JUPITER, 1), emitEvent(2, JUPITER, 'FeeEvent', fee(7n))];
    expect(readEvents(executedTransaction(specs))).toEqual([
      { program: JUPITER, name: 'FeeEvent', data: fee(7n), index: 1 },
    ]);
  });

  it('ignores outer instructions, which anyone can send', () => {
    expect(read([emitEvent(1, JUPITER, 'FeeEvent', fee(7n))])).toEqual([]);
  });

  it('reads logs of the running instruction', () => {
    const specs = [plain(programs.computeBudget, 1), plain(OKX, 1), plain(CPMM, 2), plain(programs.token, 3)];
    const logs = [
      ...[
        invoke(programs.computeBudget, 1),
        success(programs.computeBudget),
        invoke(OKX, 1),
        invoke(CPMM, 2),
      ],
      ...[invoke(programs.token, 3), 'Program log: Instruction: Transfer', success(programs.token)],
      ...[
        dataLine(OKX, 'SwapEvent', step(5n)),
        success(CPMM),
        dataLine(OKX, 'SwapEvent', step(6n)),
        success(OKX),
      ],
    ];
    // The first line belongs to the pool, whose event has the same name and other members.
    expect(read(specs, logs)).toEqual([[1, 'SwapEvent', 6n]]);
  });

  it('keeps the emission order across self-calls and logs', () => {
    const specs = [
      plain(OKX, 1),
      plain(JUPITER, 2),
      emitEvent(3, JUPITER, 'FeeEvent', fee(2n)),
      plain(CPMM, 2),
    ];
    const logs = [
      ...[invoke(OKX, 1), dataLine(OKX, 'SwapEvent', step(1n)), invoke(JUPITER, 2), invoke(JUPITER, 3)],
      ...[success(JUPITER), success(JUPITER), dataLine(OKX, 'SwapEvent', step(3n)), invoke(CPMM, 2)],
      ...[success(CPMM), dataLine(OKX, 'SwapEvent', step(4n)), success(OKX)],
    ];
    expect(read(specs, logs)).toEqual([
      [0, 'SwapEvent', 1n],
      [2, 'FeeEvent', 2n],
      [0, 'SwapEvent', 3n],
      [0, 'SwapEvent', 4n],
    ]);
  });

  it('reports an event once when it is both called and logged, and twice when emitted twice', () => {
    const specs = [
      plain(JUPITER, 1),
      emitEvent(2, JUPITER, 'FeeEvent', fee(2n)),
      emitEvent(2, JUPITER, 'FeeEvent', fee(2n)),
    ];
    const line = dataLine(JUPITER, 'FeeEvent', fee(2n));
    const logs = [invoke(JUPITER, 1), line, line, success(JUPITER)];
    expect(read(specs, logs)).toHaveLength(2);
    expect(read(specs, [...logs.slice(0, 3), line, success(JUPITER)])).toHaveLength(3);
  });

  it('stops where the logs are truncated', () => {
    const line = dataLine(OKX, 'SwapEvent', step(1n));
    const logs = [invoke(OKX, 1), line, 'Log truncated', line];
    expect(read([plain(OKX, 1)], logs)).toHaveLength(1);
  });

  it('cannot be forged by program logs', () => {
    const line = dataLine(OKX, 'SwapEvent', step(1n));
    const forged = [`Program log: ${invoke(OKX, 2)}`, `Program log: x\n${invoke(OKX, 2)}`, line];
    expect(read([plain(CPMM, 1)], [invoke(CPMM, 1), ...forged, success(CPMM)])).toEqual([]);
  });

  it('assigns events to the outer instruction without inner ones', () => {
    const logs = [invoke(CPMM, 1), invoke(OKX, 2), dataLine(OKX, 'SwapEvent', step(1n)), success(OKX)];
    const specs = [plain(CPMM, 1), plain(OKX, 1)];
    const next = [success(CPMM), invoke(OKX, 1), dataLine(OKX, 'SwapEvent', step(2n)), success(OKX)];
    expect(read(specs, [...logs, ...next])).toEqual([
      [0, 'SwapEvent', 1n],
      [1, 'SwapEvent', 2n],
    ]);
  });

  it('ignores lines of a call that does not match', () => {
    const logs = [invoke(OKX, 1), invoke(CPMM, 1), success(CPMM), dataLine(OKX, 'SwapEvent', step(1n))];
    expect(read([plain(OKX, 1), plain(CPMM, 1)], logs)).toEqual([]);
  });

  it('reads Raydium logs for Raydium only', () => {
    const log =
      'Program log: ray_log: A+E1LKzCAAAAHPYaDgAAAAABAAAAAAAAAOE1LKzCAAAAPfnuixQAAABHSrRr57wAAEBhCRUAAAAA';
    expect(
      readEvents(executedTransaction([plain(RAYDIUM, 1)], { logs: [invoke(RAYDIUM, 1), log] })),
    ).toMatchObject([
      {
        program: RAYDIUM,
        name: 'SwapBaseInLog',
        data: { log_type: 3, amount_in: 836_112_233_953n, out_amount: 352_936_256n },
      },
    ]);
    expect(readEvents(executedTransaction([plain(OKX, 1)], { logs: [invoke(OKX, 1), log] }))).toEqual([]);
  });

  it('ignores unknown events, oversized lines and invalid base64', () => {
    const long = `Program data: ${'A'.repeat(eventLimits.lineMax + 1)}`;
    const whole = dataLine(OKX, 'SwapEvent', step(1n));
    const logs = [invoke(OKX, 1), 'Program data: AAAA', long, `${whole} x`, 'Program data: ', `${whole}!`];
    expect(read([plain(OKX, 1)], logs)).toEqual([]);
    expect(read([plain(OKX, 1)], [invoke(OKX, 1), whole])).toHaveLength(1);
  });

  it('returns none for a failed transaction', () => {
    expect(read([plain(JUPITER, 1), emitEvent(2, JUPITER, 'FeeEvent', fee(7n))], [], 'Failed')).toEqual([]);
  });
});
