import {
  AddressLookupTableProgram,
  Authorized,
  Lockup,
  StakeAuthorizationLayout,
  StakeProgram,
  SystemProgram,
  type TransactionInstruction,
  VoteAuthorizationLayout,
  VoteInit,
  VoteProgram,
} from '@solana/web3.js';
import { key } from '../actors.ts';
import { rent, SOL, type Step, type StepContext, step } from './step.ts';

const VOTE_BYTES = 3_762;
const STAKE_BYTES = 200;

const votes: readonly Step[] = [
  step(
    'create vote account',
    'payer vote node',
    VoteProgram.createAccount({
      ...{ fromPubkey: key('payer'), votePubkey: key('vote'), lamports: rent(VOTE_BYTES) + 1_000_000 },
      voteInit: new VoteInit(key('node'), key('voter'), key('withdrawer'), 7),
    }).instructions,
  ),
  step(
    'authorize voter',
    'payer voter',
    VoteProgram.authorize({
      ...{ votePubkey: key('vote'), authorizedPubkey: key('voter'), newAuthorizedPubkey: key('voter2') },
      voteAuthorizationType: VoteAuthorizationLayout.Voter,
    }).instructions,
  ),
  step(
    'withdraw from vote account',
    'payer withdrawer',
    VoteProgram.withdraw({
      ...{ votePubkey: key('vote'), authorizedWithdrawerPubkey: key('withdrawer') },
      ...{ toPubkey: key('bob'), lamports: 1_000 },
    }).instructions,
  ),
  step(
    'fail: vote authority',
    'payer alice',
    VoteProgram.withdraw({
      ...{ votePubkey: key('vote'), authorizedWithdrawerPubkey: key('alice') },
      ...{ toPubkey: key('bob'), lamports: 1_000 },
    }).instructions,
    { fails: true },
  ),
];

const createStake = (name: string, lockup: Lockup): readonly TransactionInstruction[] =>
  StakeProgram.createAccount({
    ...{ fromPubkey: key('payer'), stakePubkey: key(name), lamports: rent(STAKE_BYTES) + 4 * SOL, lockup },
    authorized: new Authorized(key('payer'), key('payer')),
  }).instructions;

const stakeOf = (name: string) => ({ stakePubkey: key(name), authorizedPubkey: key('payer') });

const stakes: readonly Step[] = [
  step('create stake', 'payer stake', createStake('stake', Lockup.default)),
  step(
    'delegate stake',
    'payer',
    StakeProgram.delegate({ ...stakeOf('stake'), votePubkey: key('vote') }).instructions,
  ),
  step(
    'split stake',
    'payer stake2',
    StakeProgram.split(
      { ...stakeOf('stake'), splitStakePubkey: key('stake2'), lamports: 2 * SOL },
      rent(STAKE_BYTES),
    ).instructions,
  ),
  step('deactivate stake', 'payer', StakeProgram.deactivate(stakeOf('stake2')).instructions),
  step(
    'authorize staker',
    'payer',
    StakeProgram.authorize({
      ...{ ...stakeOf('stake'), newAuthorizedPubkey: key('alice') },
      stakeAuthorizationType: StakeAuthorizationLayout.Staker,
    }).instructions,
  ),
  step(
    'withdraw stake',
    'payer',
    StakeProgram.withdraw({ ...stakeOf('stake2'), toPubkey: key('bob'), lamports: SOL }).instructions,
  ),
  step(
    'create locked stake',
    'payer stake3',
    createStake('stake3', new Lockup(4_000_000_000, 0, key('bob'))),
  ),
  step(
    'fail: stake locked',
    'payer',
    StakeProgram.withdraw({ ...stakeOf('stake3'), toPubkey: key('bob'), lamports: SOL }).instructions,
    { fails: true },
  ),
  step(
    'fail: stake authority',
    'payer',
    StakeProgram.deactivate({ ...stakeOf('stake'), authorizedPubkey: key('payer') }).instructions,
    { fails: true },
  ),
];

const tableOf = { authority: key('payer'), payer: key('payer') };

function createTable(name: string): Step['instructions'] {
  return ({ recentSlot, setTable }: StepContext) => {
    const [instruction, address] = AddressLookupTableProgram.createLookupTable({ ...tableOf, recentSlot });
    setTable(name, address);
    return [instruction];
  };
}

const extend =
  (name: string, ...addresses: string[]): Step['instructions'] =>
  ({ table }) => [
    AddressLookupTableProgram.extendLookupTable({
      ...{ ...tableOf, lookupTable: table(name), addresses: addresses.map(key) },
    }),
  ];

const payFrom = (from: string, to: string): TransactionInstruction =>
  SystemProgram.transfer({ fromPubkey: key(from), toPubkey: key(to), lamports: 11 });

const tables: readonly Step[] = [
  step('create table', 'payer', createTable('table')),
  step('extend table', 'payer', extend('table', 'alice', 'bob', 'carol')),
  step('use table', 'payer', [payFrom('payer', 'bob'), payFrom('payer', 'carol')], {
    ...{ version: 0, lookup: 'table' },
  }),
  step('create second table', 'payer', createTable('table2')),
  step('extend second table', 'payer', extend('table2', 'alice')),
  step('freeze table', 'payer', ({ table }) => [
    AddressLookupTableProgram.freezeLookupTable({ ...tableOf, lookupTable: table('table2') }),
  ]),
  step('fail: frozen table', 'payer', extend('table2', 'bob'), { fails: true }),
  step('deactivate table', 'payer', ({ table }) => [
    AddressLookupTableProgram.deactivateLookupTable({ ...tableOf, lookupTable: table('table') }),
  ]),
  step(
    'fail: table in use',
    'payer',
    ({ table }) => [
      AddressLookupTableProgram.closeLookupTable({
        ...{ ...tableOf, lookupTable: table('table'), recipient: key('payer') },
      }),
    ],
    { fails: true },
  ),
];

/** Vote, stake and lookup tables. */
export const stakingSteps: readonly Step[] = [...votes, ...stakes, ...tables];
