import { describe, expect, it } from 'vitest';
import { key, LedgerScript, NotificationRecorder } from '../../../test/streams/ledger-script.ts';
import type { AccountFilter } from '../../protocol/rpc/account-filter.ts';
import type { Account } from '../../solana/account/account.ts';
import { addressBytes } from '../../solana/address.ts';
import type { AccountEncoding } from '../../solana/encoding/encodings.ts';
import { programs } from '../../solana/programs.ts';
import { lamports } from '../../solana/units.ts';
import { LedgerNotifier } from '../ledger-notifier.ts';

const MINT = key(50);
const lookup = () => ({ mint: (mint: string) => (mint === MINT ? { decimals: 2 } : null) });

function stage() {
  const notifier = new LedgerNotifier({ lookup });
  return { notifier, story: new LedgerScript(notifier) };
}

function watchAccount(notifier: LedgerNotifier, encoding: AccountEncoding): NotificationRecorder {
  const recorder = new NotificationRecorder();
  notifier.add({ kind: 'account', address: key(1), commitment: 'processed', encoding }, recorder);
  return recorder;
}

function watchProgram(
  notifier: LedgerNotifier,
  filters: readonly AccountFilter[] = [],
  encoding: AccountEncoding = 'base64',
  program = programs.token,
): NotificationRecorder {
  const recorder = new NotificationRecorder();
  notifier.add({ kind: 'program', program, commitment: 'processed', encoding, filters }, recorder);
  return recorder;
}

/** A token account of `MINT` with 1234 base units. */
function tokenAccount(mint = MINT): Partial<Account> {
  const data = new Uint8Array(165);
  data.set(addressBytes(mint), 0);
  data.set(addressBytes(key(51)), 32);
  new DataView(data.buffer).setBigUint64(64, 1234n, true);
  data[108] = 1;
  return { data, owner: programs.token };
}

function emit(
  story: LedgerScript,
  at: number,
  accounts: Readonly<Record<number, Partial<Account> | null>>,
): void {
  story.created(at);
  for (const [n, changes] of Object.entries(accounts)) story.account(at, Number(n), changes);
  story.processed(at);
}

describe('an account', () => {
  it('is emitted with its members in the order of Agave', () => {
    const { notifier, story } = stage();
    const recorder = watchAccount(notifier, 'base64');
    emit(story, 3, { 1: { data: Uint8Array.of(1, 2), lamports: lamports(18446744073709551615n) } });
    expect(recorder.texts).toEqual([
      `{"context":{"slot":3},"value":{"lamports":18446744073709551615,"data":["AQI=","base64"],` +
        `"owner":"${programs.system}","executable":false,"rentEpoch":18446744073709551615,"space":2}}`,
    ]);
  });

  it('that was closed is emitted as the empty account', () => {
    const { notifier, story } = stage();
    const recorder = watchAccount(notifier, 'jsonParsed');
    emit(story, 3, { 1: null });
    expect(recorder.texts).toEqual([
      `{"context":{"slot":3},"value":{"lamports":0,"data":["","base64"],"owner":"${programs.system}",` +
        `"executable":false,"rentEpoch":0,"space":0}}`,
    ]);
  });

  it.each([
    ['binary', '5Q', 'error: data too large for bs58 encoding'],
    ['base58', ['5Q', 'base58'], ['error: data too large for bs58 encoding', 'base58']],
  ] as const)('has an error message instead of data too long for %s', (encoding, short, long) => {
    const { notifier, story } = stage();
    const recorder = watchAccount(notifier, encoding);
    emit(story, 1, { 1: { data: Uint8Array.of(255) } });
    emit(story, 2, { 1: { data: new Uint8Array(129) } });
    expect(recorder.values).toMatchObject([
      { data: short, space: 1 },
      { data: long, space: 129 },
    ]);
  });

  it('is parsed with the mint of its slot, or encoded in base64 without a mint', () => {
    const { notifier, story } = stage();
    const recorder = watchAccount(notifier, 'jsonParsed');
    emit(story, 1, { 1: tokenAccount() });
    emit(story, 2, { 1: tokenAccount(key(52)) });
    expect(recorder.texts[0]).toMatch(
      /"data":\{"program":"spl-token","parsed":\{.*"type":"account"\},"space":165\}/,
    );
    expect(recorder.texts[0]).toContain('"uiAmountString":"12.34"');
    expect(recorder.values[1]).toMatchObject({ data: [expect.any(String), 'base64'] });
  });
});

describe("a program's accounts", () => {
  it('are emitted with their addresses, in their final state of the slot', () => {
    const { notifier, story } = stage();
    const recorder = watchProgram(notifier);
    emit(story, 4, { 1: { owner: programs.token }, 2: {}, 3: { owner: programs.token } });
    expect(recorder.values).toMatchObject([{ pubkey: key(1) }, { pubkey: key(3) }]);
    expect(recorder.texts[0]).toMatch(
      /^\{"context":\{"slot":4\},"value":\{"pubkey":"[^"]+","account":\{"lamports":5,/,
    );
  });

  it('are not emitted when they left the program or were closed', () => {
    const { notifier, story } = stage();
    const recorder = watchProgram(notifier);
    story.created(1);
    story.account(1, 1, { owner: programs.token });
    story.account(1, 1, { owner: programs.system });
    story.account(1, 2, { owner: programs.token });
    story.account(1, 2, null);
    story.processed(1);
    expect(recorder.texts).toEqual([]);
  });

  it('are emitted only if all filters match', () => {
    const { notifier, story } = stage();
    const memcmp = (offset: bigint, ...bytes: number[]): AccountFilter => ({
      kind: 'memcmp',
      offset,
      bytes: Uint8Array.from(bytes),
    });
    const recorder = {
      ofSize: watchProgram(notifier, [{ kind: 'dataSize', size: 3n }]),
      of12: watchProgram(notifier, [memcmp(0n, 1, 2)]),
      of12Long: watchProgram(notifier, [memcmp(0n, 1, 2), { kind: 'dataSize', size: 3n }]),
      of2then3: watchProgram(notifier, [memcmp(1n, 2), memcmp(2n, 3)]),
      ofNothing: watchProgram(notifier, [memcmp(2n)]),
      farOff: watchProgram(notifier, [memcmp(18446744073709551615n, 1)]),
      tokens: watchProgram(notifier, [{ kind: 'tokenAccountState' }]),
    };
    const { token: owner } = programs;
    emit(story, 1, {
      1: { owner, data: Uint8Array.of(1, 2, 3) },
      2: { owner, data: Uint8Array.of(1, 2) },
      3: { owner, data: Uint8Array.of(9, 2, 3, 4) },
      4: { owner, data: Uint8Array.of(1) },
      5: tokenAccount(),
    });
    const numbers = (one: NotificationRecorder) =>
      one.values.map((value) => addressBytes((value as { pubkey: never }).pubkey)[0]);
    expect(Object.fromEntries(Object.entries(recorder).map(([name, one]) => [name, numbers(one)]))).toEqual({
      ofSize: [1],
      of12: [1, 2],
      of12Long: [1],
      of2then3: [1, 3],
      ofNothing: [1, 2, 3, 5],
      farOff: [],
      tokens: [5],
    });
  });

  it('can be unsubscribed individually', () => {
    const { notifier, story } = stage();
    const filters: AccountFilter[] = [{ kind: 'memcmp', offset: 0n, bytes: Uint8Array.of(1) }];
    const ended = new NotificationRecorder();
    const subscription = { kind: 'program', program: programs.token, commitment: 'processed' } as const;
    const end = notifier.add({ ...subscription, encoding: 'base64', filters }, ended);
    const endOther = notifier.add({ ...subscription, encoding: 'base64', filters: [] }, ended);
    const stays = watchProgram(notifier, filters);
    end();
    endOther();
    end();
    emit(story, 1, { 1: { owner: programs.token, data: Uint8Array.of(1) } });
    expect([ended.texts.length, stays.texts.length]).toEqual([0, 1]);
  });

  it('are omitted from jsonParsed if they cannot be parsed, but only for token programs', () => {
    const { notifier, story } = stage();
    const tokens = watchProgram(notifier, [], 'jsonParsed');
    const systems = watchProgram(notifier, [], 'jsonParsed', programs.system);
    emit(story, 1, { 1: tokenAccount(), 2: { owner: programs.token }, 3: {}, 4: tokenAccount(key(52)) });
    expect(tokens.values).toMatchObject([{ pubkey: key(1) }]);
    expect(systems.values).toMatchObject([{ pubkey: key(3) }]);
  });
});
