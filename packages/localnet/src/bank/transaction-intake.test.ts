import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Signature } from '../../../../src/solana/signature.ts';
import type { Transaction } from '../../../../src/solana/transaction/transaction.ts';
import { TransactionIntake } from './transaction-intake.ts';

const LEAD_MS = 20;

/** Recorded steps. */
let steps: string[];
let payable: (name: string) => boolean;
let intake: TransactionIntake;

const transactionOf = (name: string): Transaction =>
  ({ signatures: [name], wire: new Uint8Array(100) }) as unknown as Transaction;
const nameOf = ({ signatures }: Transaction): string => signatures[0] as string;

const openIntake = (leadMs: number): TransactionIntake =>
  new TransactionIntake(
    {
      canExecute: (transaction) => payable(nameOf(transaction)),
      announce: (transactions) => void steps.push(`announce ${transactions.map(nameOf)}`),
      sendDeferred: () => void steps.push('settle'),
    },
    { transactionsMax: 4, batchMaxBytes: 3 * 148, overheadBytes: 48, leadMs },
  );

beforeEach(() => {
  vi.useFakeTimers({
    toFake: ['setTimeout', 'clearTimeout', 'setImmediate', 'clearImmediate', 'performance'],
  });
  steps = [];
  payable = () => true;
  intake = openIntake(LEAD_MS);
});
afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

function add(name: string, run: () => string = () => name): Promise<string> {
  const answer = intake.add(name as Signature, transactionOf(name), () => {
    steps.push(`run ${name}`);
    return run();
  });
  answer.catch(() => {});
  return answer;
}

/** Ends the event loop turn. */
const nextTurn = (): void => void vi.advanceTimersToNextTimer();

/** Steps since the last call. */
const takeSteps = (): string[] => steps.splice(0);

describe('announced transactions', () => {
  it('run together after the lead time; later arrivals are announced afterwards', async () => {
    const answers = ['a', 'b'].map((name) => add(name));
    expect(takeSteps()).toEqual([]);
    nextTurn();
    expect(takeSteps()).toEqual(['announce a,b']);
    vi.advanceTimersByTime(LEAD_MS - 1);
    answers.push(add('c'));
    expect(takeSteps()).toEqual([]);
    vi.advanceTimersByTime(1);
    expect(takeSteps()).toEqual(['run a', 'run b', 'settle']);
    nextTurn();
    expect(takeSteps()).toEqual(['announce c']);
    vi.advanceTimersByTime(LEAD_MS);
    expect(takeSteps()).toEqual(['run c', 'settle']);
    expect(await Promise.all(answers)).toEqual(['a', 'b', 'c']);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('do not run early when the timer fires early', () => {
    add('a');
    nextTurn();
    const due = performance.now() + LEAD_MS;
    const now = vi.spyOn(performance, 'now').mockReturnValue(due - 0.4);
    vi.advanceTimersByTime(LEAD_MS);
    expect(takeSteps()).toEqual(['announce a']);
    now.mockReturnValue(due);
    vi.advanceTimersByTime(1);
    expect(takeSteps()).toEqual(['run a', 'settle']);
  });

  it('are announced in batches and pending until run', () => {
    for (const name of ['a', 'b', 'c', 'd']) add(name);
    expect([intake.isFull, intake.has('d' as Signature)]).toEqual([true, true]);
    nextTurn();
    expect(takeSteps()).toEqual(['announce a,b,c']);
    vi.advanceTimersByTime(LEAD_MS);
    expect(intake.isFull).toBe(false);
    expect(intake.has('c' as Signature)).toBe(false);
    expect(intake.has('d' as Signature)).toBe(true);
    nextTurn();
    expect(takeSteps()).toEqual(['run a', 'run b', 'run c', 'settle', 'announce d']);
  });

  it('wait for earlier ones if they cannot be charged yet, and are rejected in order', async () => {
    payable = (name) => name === 'a';
    const refused = add('poor', () => {
      throw new Error('refused');
    });
    const answers = [add('a'), add('b')];
    nextTurn();
    await expect(refused).rejects.toThrow('refused');
    expect(takeSteps()).toEqual(['run poor', 'announce a']);
    payable = () => true;
    vi.advanceTimersByTime(LEAD_MS);
    nextTurn();
    vi.advanceTimersByTime(LEAD_MS);
    expect(takeSteps()).toEqual(['run a', 'settle', 'announce b', 'run b', 'settle']);
    expect(await Promise.all(answers)).toEqual(['a', 'b']);
  });

  it('fail alone when one throws', async () => {
    const halted = add('a', () => {
      throw new Error('halted');
    });
    const other = add('b');
    nextTurn();
    vi.advanceTimersByTime(LEAD_MS);
    await expect(halted).rejects.toThrow('halted');
    expect(await other).toBe('b');
    expect(takeSteps()).toEqual(['announce a,b', 'run a', 'run b', 'settle']);
  });
});

describe('end of a slot', () => {
  const endSlot = (): void => intake.afterPendingExecuted(() => void steps.push('slot'));

  it('comes once after announced transactions and before later arrivals', () => {
    add('a');
    nextTurn();
    add('b');
    endSlot();
    vi.advanceTimersByTime(LEAD_MS / 2);
    endSlot();
    expect(takeSteps()).toEqual(['announce a']);
    vi.advanceTimersByTime(LEAD_MS / 2);
    nextTurn();
    expect(takeSteps()).toEqual(['run a', 'settle', 'slot', 'announce b']);
  });

  it('comes at once without announced transactions', () => {
    add('a');
    endSlot();
    nextTurn();
    expect(takeSteps()).toEqual(['slot', 'announce a']);
  });
});

describe('retries announced at the start of a slot', () => {
  const hold = (): void => intake.scheduleAnnounced(() => void steps.push('run waiting'));

  it('run after the lead time, before new arrivals and before the slot ends', () => {
    add('a');
    hold();
    intake.afterPendingExecuted(() => void steps.push('slot'));
    vi.advanceTimersByTime(LEAD_MS - 1);
    expect(takeSteps()).toEqual([]);
    vi.advanceTimersByTime(1);
    nextTurn();
    expect(takeSteps()).toEqual(['run waiting', 'settle', 'slot', 'announce a']);
  });

  it('run after everything announced before', () => {
    add('a');
    nextTurn();
    hold();
    expect(takeSteps()).toEqual(['announce a', 'run a', 'settle']);
    vi.advanceTimersByTime(LEAD_MS);
    expect(takeSteps()).toEqual(['run waiting', 'settle']);
  });

  it('run at once without lead time', () => {
    intake = openIntake(0);
    hold();
    expect(takeSteps()).toEqual(['run waiting', 'settle']);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('run at once on drain, then the arrivals, each once', async () => {
    hold();
    const answer = add('a');
    intake.afterPendingExecuted(() => void steps.push('slot'));
    intake.executePending();
    expect(takeSteps()).toEqual(['run waiting', 'settle', 'slot', 'announce a', 'run a', 'settle']);
    expect(await answer).toBe('a');
    expect(vi.getTimerCount()).toBe(0);
    vi.advanceTimersByTime(10 * LEAD_MS);
    expect(takeSteps()).toEqual([]);
  });
});
