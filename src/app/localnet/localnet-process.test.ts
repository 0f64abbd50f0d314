import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, describe, expect, it, vi } from 'vitest';
import { createLogger } from '../../base/log.ts';
import { LocalnetProcess, type LocalnetProcessOptions } from './localnet-process.ts';

const folder = mkdtempSync(join(tmpdir(), 'solway-process-'));
const started: LocalnetProcess[] = [];
afterEach(async () => {
  vi.useRealTimers();
  await Promise.all(started.splice(0).map((ledger) => ledger.stop()));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** A ledger process that runs this code instead. */
function ledgerOf(code: string, options: Partial<LocalnetProcessOptions> = {}) {
  const file = join(folder, `${started.length}-${Date.now()}.mjs`);
  writeFileSync(file, code);
  const lines: { delay?: number }[] = [];
  const ledger = new LocalnetProcess({
    program: [process.execPath, file],
    ledgerDir: folder,
    rpcPort: 0,
    slotMs: 400,
    slotsPerEpoch: 64,
    faucetSol: 1,
    historySlotsMax: 200,
    readyTimeoutMs: 20_000,
    restartDelayMinMs: 1,
    restartDelayMaxMs: 4,
    healthyAfterMs: 60_000,
    stopTimeoutMs: 1_000,
    log: createLogger('warn', (line) => void lines.push(JSON.parse(line))),
    ...options,
  });
  started.push(ledger);
  const delays = () => lines.flatMap(({ delay }) => (delay === undefined ? [] : [delay]));
  return { ledger, delays };
}

const DIES_WHEN_READY =
  "process.send({ event: 'ready', rpcPort: 1, pubsubPort: 2, grpcPort: 3 }, () => process.exit(1))";

describe('a ledger that dies', () => {
  it('is restarted on its ports with increasing delays', async () => {
    const starts = join(folder, 'starts');
    const argument = (name: string) => `process.argv[process.argv.indexOf('${name}') + 1]`;
    const entry = `[Date.now(), ${argument('--rpc-port')}, ${argument('--geyser-port')}].join(',') + ' '`;
    const note = `import { appendFileSync } from 'node:fs'; appendFileSync(${JSON.stringify(starts)}, ${entry});`;
    const { ledger, delays } = ledgerOf(note + DIES_WHEN_READY, {
      restartDelayMinMs: 50,
      restartDelayMaxMs: 100,
    });
    expect(await ledger.start()).toMatchObject({ rpcPort: 1, pubsubPort: 2, grpcPort: 3 });
    await vi.waitFor(() => expect(delays().slice(0, 3)).toEqual([50, 100, 100]), 15_000);
    const seen = readFileSync(starts, 'utf8').trim().split(' ');
    expect(seen.slice(0, 3).map((start) => start.replace(/^\d+,/, ''))).toEqual(['0,0', '1,3', '1,3']);
    const [first = 0, second = 0, third = 0] = seen.map((start) => Number.parseInt(start, 10));
    expect(second - first).toBeGreaterThanOrEqual(50);
    expect(third - second).toBeGreaterThanOrEqual(100);
  });

  it('after a healthy run is restarted with the shortest delay', async () => {
    const { ledger, delays } = ledgerOf(DIES_WHEN_READY, { healthyAfterMs: 0 });
    await ledger.start();
    await vi.waitFor(() => expect(delays().slice(0, 3)).toEqual([1, 1, 1]), 15_000);
  });
});

describe('a ledger that does not start', () => {
  it('without an error reports its exit code or a timeout', async () => {
    await expect(ledgerOf('process.exitCode = 3').ledger.start()).rejects.toThrow(
      'it ended with exit code 3',
    );
    const endless = ledgerOf('setInterval(() => undefined, 1000)', { readyTimeoutMs: 200 });
    await expect(endless.ledger.start()).rejects.toThrow('it was not ready after 200 ms');
  });
});
