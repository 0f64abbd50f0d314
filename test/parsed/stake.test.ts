import { Authorized, Lockup, PublicKey, StakeAuthorizationLayout, StakeProgram } from '@solana/web3.js';
import { describe, expect, it } from 'vitest';
import { only, parsedJson, text, withData, withoutAccounts } from './built.ts';

const key = (n: number): PublicKey => new PublicKey(Buffer.alloc(32, n));
const [stake, staker, withdrawer, other, custodian] = [key(1), key(2), key(3), key(4), key(5)];
const clock = 'SysvarC1ock11111111111111111111111111111111';
const rent = 'SysvarRent111111111111111111111111111111111';
const history = 'SysvarStakeHistory1111111111111111111111111';
const config = 'StakeConfig11111111111111111111111111111111';

const initialize = StakeProgram.initialize({
  stakePubkey: stake,
  authorized: new Authorized(staker, withdrawer),
  lockup: new Lockup(11, 12, custodian),
});
const delegate = only(
  StakeProgram.delegate({ stakePubkey: stake, authorizedPubkey: staker, votePubkey: other }),
);
const authorize = only(
  StakeProgram.authorize({
    stakePubkey: stake,
    authorizedPubkey: withdrawer,
    newAuthorizedPubkey: other,
    stakeAuthorizationType: StakeAuthorizationLayout.Withdrawer,
    custodianPubkey: custodian,
  }),
);
const withdraw = only(
  StakeProgram.withdraw({
    stakePubkey: stake,
    authorizedPubkey: withdrawer,
    toPubkey: other,
    lamports: 9,
    custodianPubkey: custodian,
  }),
);
const split = only(
  StakeProgram.split(
    { stakePubkey: stake, authorizedPubkey: staker, splitStakePubkey: other, lamports: 9 },
    0,
  ),
  1,
);
const withSeed = only(
  StakeProgram.authorizeWithSeed({
    stakePubkey: stake,
    authorityBase: staker,
    authoritySeed: 'seed',
    authorityOwner: other,
    newAuthorizedPubkey: withdrawer,
    stakeAuthorizationType: StakeAuthorizationLayout.Staker,
  }),
);

/** Instruction with the accounts of another. */
const onAccountsOf = (of: typeof delegate, discriminant: number, ...rest: number[]) =>
  withData(of, Uint8Array.of(discriminant, 0, 0, 0, ...rest));

const lamports = (n: number): number[] => [n, 0, 0, 0, 0, 0, 0, 0];

describe('stake instruction', () => {
  it('initializes', () => {
    const info = {
      stakeAccount: text(stake),
      authorized: { staker: text(staker), withdrawer: text(withdrawer) },
      lockup: { unixTimestamp: 11, epoch: 12, custodian: text(custodian) },
    };
    expect(parsedJson(initialize)).toEqual({ type: 'initialize', info: { ...info, rentSysvar: rent } });
    expect(parsedJson(withoutAccounts(initialize, 1))).toEqual({ type: 'initialize', info });
  });

  it('delegates with or without old sysvars', () => {
    const info = { stakeAccount: text(stake), voteAccount: text(other) };
    const sysvars = { clockSysvar: clock, stakeHistorySysvar: history };
    expect(parsedJson(delegate)).toEqual({
      type: 'delegate',
      info: { ...info, ...sysvars, stakeConfigAccount: config, stakeAuthority: text(staker) },
    });
    const { keys } = delegate;
    const short = Object.assign({ ...delegate }, { keys: [keys[0], keys[1], keys[5]] }) as typeof delegate;
    expect(parsedJson(short)).toEqual({ type: 'delegate', info: { ...info, stakeAuthority: text(staker) } });
    const noConfig = Object.assign({ ...delegate }, { keys: keys.toSpliced(4, 1) }) as typeof delegate;
    expect(parsedJson(noConfig)).toEqual({
      type: 'delegate',
      info: { ...info, ...sysvars, stakeAuthority: text(staker) },
    });
    expect(parsedJson(withoutAccounts(delegate, 2))).toBeNull();
  });

  it('authorizes', () => {
    const info = {
      stakeAccount: text(stake),
      clockSysvar: clock,
      authority: text(withdrawer),
      newAuthority: text(other),
      authorityType: 'Withdrawer',
    };
    expect(parsedJson(authorize)).toEqual({
      type: 'authorize',
      info: { ...info, custodian: text(custodian) },
    });
    expect(parsedJson(withoutAccounts(authorize, 1))).toEqual({ type: 'authorize', info });
    expect(parsedJson(withoutAccounts(authorize, 2))).toBeNull();
  });

  it('authorizes with a seed', () => {
    expect(parsedJson(withSeed)).toEqual({
      type: 'authorizeWithSeed',
      info: {
        stakeAccount: text(stake),
        authorityBase: text(staker),
        clockSysvar: clock,
        newAuthorized: text(withdrawer),
        authorityType: 'Staker',
        authoritySeed: 'seed',
        authorityOwner: text(other),
      },
    });
  });

  it('withdraws, splits, merges and deactivates', () => {
    expect(parsedJson(withdraw)).toEqual({
      type: 'withdraw',
      info: {
        stakeAccount: text(stake),
        destination: text(other),
        clockSysvar: clock,
        stakeHistorySysvar: history,
        withdrawAuthority: text(withdrawer),
        custodian: text(custodian),
        lamports: 9,
      },
    });
    expect(parsedJson(split)).toEqual({
      type: 'split',
      info: {
        stakeAccount: text(stake),
        newSplitAccount: text(other),
        stakeAuthority: text(staker),
        lamports: 9,
      },
    });
    const merge = StakeProgram.merge({
      stakePubkey: stake,
      sourceStakePubKey: other,
      authorizedPubkey: staker,
    });
    expect(parsedJson(only(merge))).toEqual({
      type: 'merge',
      info: {
        destination: text(stake),
        source: text(other),
        clockSysvar: clock,
        stakeHistorySysvar: history,
        stakeAuthority: text(staker),
      },
    });
    const deactivate = StakeProgram.deactivate({ stakePubkey: stake, authorizedPubkey: staker });
    expect(parsedJson(only(deactivate))).toEqual({
      type: 'deactivate',
      info: { stakeAccount: text(stake), clockSysvar: clock, stakeAuthority: text(staker) },
    });
  });

  it('sets a lockup and shows only the given parts', () => {
    const setLockup = onAccountsOf(split, 6, 1, ...lamports(7), 0, 1, ...staker.toBytes());
    expect(parsedJson(setLockup)).toEqual({
      type: 'setLockup',
      info: {
        stakeAccount: text(stake),
        custodian: text(other),
        lockup: { unixTimestamp: 7, custodian: text(staker) },
      },
    });
    expect(parsedJson(onAccountsOf(split, 6, 2))).toBeNull();
    expect(parsedJson(onAccountsOf(split, 12, 0, 1, ...lamports(5)))).toEqual({
      type: 'setLockupChecked',
      info: {
        stakeAccount: text(stake),
        custodian: text(other),
        lockup: { epoch: 5, custodian: text(staker) },
      },
    });
  });

  it('takes new authorities from accounts when checked', () => {
    expect(parsedJson(onAccountsOf(authorize, 10, 1, 0, 0, 0))).toEqual({
      type: 'authorizeChecked',
      info: {
        stakeAccount: text(stake),
        clockSysvar: clock,
        authority: text(withdrawer),
        newAuthority: text(custodian),
        authorityType: 'Withdrawer',
      },
    });
    expect(parsedJson(onAccountsOf(split, 9))).toEqual({
      type: 'initializeChecked',
      info: { stakeAccount: text(stake), staker: text(other), withdrawer: text(staker) },
    });
    expect(parsedJson(onAccountsOf(authorize, 10, 2, 0, 0, 0))).toBeNull();
  });

  it('moves stake and lamports', () => {
    const info = { source: text(stake), destination: text(other), stakeAuthority: text(staker), lamports: 8 };
    expect(parsedJson(onAccountsOf(split, 16, ...lamports(8)))).toEqual({ type: 'moveStake', info });
    expect(parsedJson(onAccountsOf(split, 17, ...lamports(8)))).toEqual({ type: 'moveLamports', info });
    expect(parsedJson(withoutAccounts(onAccountsOf(split, 17, ...lamports(8)), 1))).toBeNull();
  });

  it('deactivates delinquent stake and gets the minimum delegation', () => {
    expect(parsedJson(onAccountsOf(split, 14))).toEqual({
      type: 'deactivateDelinquent',
      info: { stakeAccount: text(stake), voteAccount: text(other), referenceVoteAccount: text(staker) },
    });
    expect(parsedJson(onAccountsOf(split, 13))).toEqual({ type: 'getMinimumDelegation' });
  });
});
