import { createInterface } from 'node:readline';
import { LedgerInUseError, type LedgerLock, lockLedger } from '../../src/genesis/ledger-lock.ts';

/** Takes and releases a ledger lock on command and reports the result. */
const [dir = ''] = process.argv.slice(2);
let lock: LedgerLock | null = null;

function take(): string {
  try {
    lock = lockLedger(dir);
    return 'had';
  } catch (error) {
    if (error instanceof LedgerInUseError) return 'refused';
    throw error;
  }
}

function release(): string {
  lock?.release();
  lock = null;
  return 'released';
}

for await (const word of createInterface(process.stdin)) {
  process.stdout.write(`${word === 'take' ? take() : release()}\n`);
}
