import { describe, expect, it } from 'vitest';
import { programs } from '../../../solana/programs.ts';
import { slot } from '../../../solana/units.ts';
import type { ChainReader } from '../chain-reader.ts';
import { feedLimits } from '../limits.ts';
import { AccountGap } from './account-gap.ts';
import type { Gap } from './continuity.ts';

const at = (value: number) => ({ slot: slot(value), parent: slot(value), root: slot(value - 32) });
const state = (context: number, lamports: number) => ({
  context: { slot: context },
  value: {
    lamports,
    data: ['', 'base64'],
    owner: programs.vote,
    executable: false,
    rentEpoch: 0,
    space: 0,
  },
});
const bytesOf = (value: unknown): Buffer => Buffer.from(JSON.stringify(value));

type States = Readonly<Record<'last' | 'read', ReturnType<typeof state>>>;

/** What is told of a gap behind the last state told, when another is read, and more came live meanwhile. */
async function fill({ last, read }: States, held: readonly Buffer[] = []): Promise<unknown[]> {
  const told: unknown[] = [];
  const { context, value } = read;
  const gap: Gap = {
    opened: at(900),
    from: at(1_000),
    to: at(1_003),
    reader: { ask: async () => bytesOf({ context, value: [value] }) } as unknown as ChainReader,
    limits: feedLimits,
    signal: new AbortController().signal,
    buffered: () => held,
    emit: (result) => told.push(JSON.parse(result.toString())),
  };
  const subscription = { kind: 'account', address: programs.vote, commitment: 'confirmed' } as const;
  const continuity = new AccountGap({ ...subscription, encoding: 'base64' });
  continuity.decide(bytesOf(last));
  await continuity.fill(gap);
  return told;
}

describe('the state of an account that is read after a gap', () => {
  it('is told when it is another than the one told last, and newer', async () => {
    const last = state(1_000, 5);
    expect(await fill({ last, read: state(1_003, 6) })).toEqual([state(1_003, 6)]);
    expect(await fill({ last, read: state(1_003, 5) })).toEqual([]);
    expect(await fill({ last, read: state(999, 4) })).toEqual([]);
  });

  it('is left to the new connection where that told a newer one already', async () => {
    const [last, read] = [state(1_000, 5), state(1_003, 6)];
    expect(await fill({ last, read }, [bytesOf(state(1_004, 7))])).toEqual([]);
    expect(await fill({ last, read }, [bytesOf(state(999, 4))])).toEqual([read]);
  });
});
