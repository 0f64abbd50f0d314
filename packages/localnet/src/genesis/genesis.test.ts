import { describe, expect, it } from 'vitest';
import type { Account } from '../../../../src/solana/account/account.ts';
import { type Address, address } from '../../../../src/solana/address.ts';
import {
  nativeMint,
  nativeMint2022,
  programs,
  stakeConfig,
  sysvarOwner,
  sysvars,
} from '../../../../src/solana/programs.ts';
import { lamports, U64_MAX } from '../../../../src/solana/units.ts';
import { type GenesisOptions, makeGenesis, newGenesisKeys } from './genesis.ts';

const keys = newGenesisKeys();
const someFeature = address('txv1aq4pp281K9um3tnPgkfX8UqtFT6wcVW3hNezGLL');
const alpenglow = address('a1penGLz8Vm2QHYB3JPefBiU4BY3Z6JkW2k3Scw5GWP');

function accountsWith(files: GenesisOptions['accounts'] = []): ReadonlyMap<Address, Account> {
  const options = {
    slotsPerEpoch: 432_000,
    ticksPerSlot: 64,
    slotMs: 400,
    faucetSol: 1_000_000n,
    programs: [],
  };
  return makeGenesis(keys, { ...options, accounts: files }, 0).accounts;
}

const accounts = accountsWith();
const base64 = (at: Address): string => Buffer.from(accounts.get(at)?.data ?? []).toString('base64');

describe('genesis', () => {
  // As answered by Agave 4.2.1's test validator.
  it.each<[string, Address, Address, bigint, bigint, boolean]>([
    ['an active feature', someFeature, programs.feature, 953_520n, 0n, false],
    ['the stake configuration', stakeConfig, programs.config, 960_480n, 0n, false],
    ['the native mint', nativeMint, programs.token, 1_000_000_000n, 1n, false],
    ['a builtin', programs.zkTokenProof, programs.nativeLoader, 1n, 0n, true],
    ['a precompile', programs.ed25519, programs.nativeLoader, 1n, 0n, true],
    ['a program', programs.stake, programs.bpfUpgradeableLoader, 1_141_440n, U64_MAX, true],
    ['rewards of the epoch', sysvars.epochRewards, sysvarOwner, 1_454_640n, U64_MAX, false],
    ['rent', sysvars.rent, sysvarOwner, 1_009_200n, 0n, false],
    ['stake history', sysvars.stakeHistory, sysvarOwner, 114_979_200n, 0n, false],
    ['the stake account', keys.stake.address, programs.stake, 1_000_000_000_000_000n, 0n, false],
    ['the faucet', keys.faucet.address, programs.system, 1_000_000_000_000_000n, 0n, false],
  ])('has Agave’s account of %s', (_what, at, owner, balance, rentEpoch, executable) => {
    expect(accounts.get(at)).toMatchObject({ owner, lamports: balance, rentEpoch, executable });
  });

  it('has the data of Agave’s accounts', () => {
    expect(base64(someFeature)).toBe('AQAAAAAAAAAA');
    expect(base64(stakeConfig)).toBe('AAAAAAAAANA/DA==');
    expect(accounts.get(nativeMint)?.data).toHaveLength(82);
  });

  it('has 284 active features, without Alpenglow, and no native mint of Token-2022', () => {
    const features = [...accounts.values()].filter((account) => account.owner === programs.feature);
    expect(features).toHaveLength(284);
    expect(accounts.has(alpenglow)).toBe(false);
    expect(accounts.has(nativeMint2022)).toBe(false);
  });

  it('lets account files replace programs, but nothing that Agave’s genesis keeps', () => {
    const file: Account = {
      lamports: lamports(7),
      data: new Uint8Array(3),
      owner: programs.system,
      executable: false,
      rentEpoch: 0n,
    };
    const { identity, vote, stake, faucet } = keys;
    const preserved = [
      ...[nativeMint, stakeConfig, someFeature, programs.system, programs.ed25519, sysvars.rent],
      ...[identity, vote, stake, faucet].map((keypair) => keypair.address),
    ];
    const replaced = [programs.token, programs.stake];
    const changed = accountsWith(
      [...preserved, ...replaced, sysvars.clock].map((at): [Address, Account] => [at, file]),
    );
    for (const at of preserved) expect(changed.get(at)).toEqual(accounts.get(at));
    for (const at of replaced) expect(changed.get(at)).toEqual(file);
    expect(changed.has(sysvars.clock)).toBe(false);
  });
});
