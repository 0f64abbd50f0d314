import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { LedgerInUseError, lockLedger } from './ledger-lock.ts';

let dir: string;
let child: ChildProcess | null = null;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'solway-lock-'));
});
afterEach(() => {
  child?.kill('SIGKILL');
  rmSync(dir, { recursive: true, force: true });
});

/** When a process started and whether it has ended, as the system says. */
function statOf(pid: number): { state: string; started: string } {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return { state: fields[0]!, started: fields[19]! };
}

function writeLock(pid: number): void {
  const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
  writeFileSync(join(dir, 'ledger.lock'), JSON.stringify({ pid, started: statOf(pid).started, boot }));
}

/** A child of a shell that becomes another program, which never asks how its child ended. */
async function startChild(command: string): Promise<number> {
  child = spawn('sh', ['-c', `${command} & echo $!; exec sleep 30`], { stdio: ['ignore', 'pipe', 'ignore'] });
  const [line] = await once(child.stdout!, 'data');
  return Number(String(line));
}

describe.skipIf(process.platform !== 'linux')('the lock of a ledger', () => {
  it('is not had while the process that has it runs', async () => {
    const pid = await startChild('sleep 30');
    writeLock(pid);
    expect(() => lockLedger(dir)).toThrow(new LedgerInUseError(dir, pid));
    process.kill(pid, 'SIGKILL');
  });

  it('is taken over from a process that has ended but is still listed', async () => {
    const pid = await startChild('sleep 30');
    writeLock(pid);
    process.kill(pid, 'SIGKILL');
    await expect.poll(() => statOf(pid).state).toBe('Z');
    const lock = lockLedger(dir);
    expect(lock.isIntact).toBe(true);
    lock.release();
  });
});
