import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../../../test/service/program.ts';
import { LedgerInUseError, lockLedger } from './ledger-lock.ts';

let dir: string;
let child: ChildProcess | null = null;
beforeEach(() => {
  dir = temporaryFolder('lock');
});
afterEach(() => {
  child?.kill('SIGKILL');
});

function statOf(pid: number): { state: string; started: string } {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return { state: fields[0]!, started: fields[19]! };
}

const boot = (): string => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
const identityOf = (pid: number) => ({ pid, started: statOf(pid).started });

function writeLock(pid: number, parent?: { pid: number; started: string }, file = 'ledger.lock'): void {
  writeFileSync(join(dir, file), JSON.stringify({ ...identityOf(pid), boot: boot(), parent }));
}

/** Starts a command whose parent, an exec of sleep, never reaps it. @returns the pid of the command. */
async function startChild(command: string): Promise<number> {
  child = spawn('sh', ['-c', `${command} & echo $!; exec sleep 30`], { stdio: ['ignore', 'pipe', 'ignore'] });
  const [line] = await once(child.stdout!, 'data');
  // Until its exec, the shell reaps its children.
  await expect.poll(() => readFileSync(`/proc/${child?.pid}/comm`, 'utf8').trim()).toBe('sleep');
  return Number(String(line));
}

describe.skipIf(process.platform !== 'linux')('ledger lock', () => {
  it('is rejected while the holder runs', async () => {
    const pid = await startChild('sleep 30');
    writeLock(pid);
    expect(() => lockLedger(dir)).toThrow(new LedgerInUseError(dir, pid, false));
    process.kill(pid, 'SIGKILL');
  });

  it('is taken over from a zombie process', async () => {
    const pid = await startChild('sleep 30');
    writeLock(pid);
    process.kill(pid, 'SIGKILL');
    await expect.poll(() => statOf(pid).state).toBe('Z');
    const lock = lockLedger(dir);
    expect(lock.wasCleanShutdown).toBe(true);
    lock.release();
  });

  it("detects whether the holder's gateway is alive", async () => {
    const pid = await startChild('sleep 30');
    const refusal = (): unknown => {
      try {
        return lockLedger(dir).release();
      } catch (error) {
        return error;
      }
    };
    writeLock(pid, identityOf(process.pid));
    expect(refusal()).toMatchObject({ pid, holderIsOrphan: false });
    writeLock(pid, { pid: process.pid, started: '1' });
    expect(refusal()).toMatchObject({ pid, holderIsOrphan: true });
    writeLock(pid);
    expect(refusal()).toMatchObject({ pid, holderIsOrphan: false });
    expect(readdirSync(dir)).toEqual(['ledger.lock']);
    process.kill(pid, 'SIGKILL');
  });

  it('is taken over from a process that died during a takeover', () => {
    const dead = JSON.stringify({ pid: 2 ** 22 + 1, started: '1', boot: boot() });
    writeFileSync(join(dir, 'ledger.lock'), dead);
    writeFileSync(join(dir, 'ledger.lock.turn'), dead);
    const lock = lockLedger(dir);
    expect(lock.wasCleanShutdown).toBe(true);
    expect(readdirSync(dir)).toEqual(['ledger.lock']);
    lock.release();
  });

  it('is not taken over while another process is doing so', async () => {
    const pid = await startChild('sleep 30');
    writeFileSync(join(dir, 'ledger.lock'), 'torn');
    writeLock(pid, undefined, 'ledger.lock.turn');
    expect(() => lockLedger(dir)).toThrow(new LedgerInUseError(dir, pid, false));
    expect(readFileSync(join(dir, 'ledger.lock'), 'utf8')).toBe('torn');
    process.kill(pid, 'SIGKILL');
  });

  it('is acquired by exactly one of many processes', async () => {
    const ROUNDS = 20;
    const takers = Array.from({ length: 4 }, () =>
      spawn(process.execPath, [join(import.meta.dirname, '../../test/ledger/lock-taker.ts'), dir], {
        stdio: ['pipe', 'pipe', 'inherit'],
      }),
    );
    const answers = takers.map((taker) => createInterface(taker.stdout)[Symbol.asyncIterator]());
    const command = async (word: string): Promise<string[]> => {
      for (const taker of takers) taker.stdin.write(`${word}\n`);
      return Promise.all(answers.map(async (lines) => (await lines.next()).value ?? 'ended'));
    };
    try {
      for (let round = 0; round < ROUNDS; round++) {
        writeFileSync(join(dir, 'ledger.lock'), JSON.stringify({ pid: 2 ** 22 + 1, started: '1', boot: '' }));
        expect((await command('take')).sort()).toEqual(['had', 'refused', 'refused', 'refused']);
        await command('release');
      }
    } finally {
      for (const taker of takers) taker.stdin.end();
    }
  }, 20_000);
});
