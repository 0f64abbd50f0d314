import {
  AuthorityType,
  createAmountToUiAmountInstruction,
  createApproveCheckedInstruction,
  createApproveInstruction,
  createAssociatedTokenAccountIdempotentInstruction,
  createAssociatedTokenAccountInstruction,
  createBurnCheckedInstruction,
  createBurnInstruction,
  createCloseAccountInstruction,
  createFreezeAccountInstruction,
  createInitializeMint2Instruction,
  createInitializeMultisigInstruction,
  createMintToCheckedInstruction,
  createMintToInstruction,
  createRevokeInstruction,
  createSetAuthorityInstruction,
  createSyncNativeInstruction,
  createThawAccountInstruction,
  createTransferCheckedInstruction,
  createTransferInstruction,
  createUiAmountToAmountInstruction,
  MINT_SIZE,
  MULTISIG_SIZE,
  NATIVE_MINT,
  TOKEN_PROGRAM_ID,
} from '@solana/spl-token';
import { type PublicKey, SystemProgram, type TransactionInstruction } from '@solana/web3.js';
import { key, tokenAccount } from '../actors.ts';
import { rent, SOL, type Step, step } from './step.ts';

const create = (name: string, space: number): TransactionInstruction =>
  SystemProgram.createAccount({
    ...{ fromPubkey: key('payer'), newAccountPubkey: key(name), space },
    ...{ lamports: rent(space), programId: TOKEN_PROGRAM_ID },
  });

const payer = key('payer');
const mint = key('mint');
const of = (owner: string): PublicKey => tokenAccount(owner, 'mint');

const createMint = (name: string, authority: PublicKey, decimals: number): TransactionInstruction[] => [
  create(name, MINT_SIZE),
  createInitializeMint2Instruction(key(name), decimals, authority, payer),
];

const createAccount = (owner: string, mintName = 'mint'): TransactionInstruction =>
  createAssociatedTokenAccountInstruction(payer, tokenAccount(owner, mintName), key(owner), key(mintName));

const lifeCycle: readonly Step[] = [
  step('create mint', 'payer mint', createMint('mint', payer, 2)),
  step('create token account', 'payer', [createAccount('alice')]),
  step('create token account idempotently', 'payer', [
    createAssociatedTokenAccountIdempotentInstruction(payer, of('bob'), key('bob'), mint),
  ]),
  step('mint tokens', 'payer', [createMintToInstruction(mint, of('alice'), payer, 100_000)]),
  step('mint tokens checked', 'payer', [createMintToCheckedInstruction(mint, of('bob'), payer, 5_000, 2)]),
  step('transfer tokens', 'payer alice', [
    createTransferInstruction(of('alice'), of('bob'), key('alice'), 25_000),
  ]),
  step('transfer tokens checked', 'payer alice', [
    createTransferCheckedInstruction(of('alice'), mint, of('bob'), key('alice'), 1_050, 2),
  ]),
  step('approve', 'payer alice', [createApproveInstruction(of('alice'), key('bob'), key('alice'), 5_000)]),
  step('approve checked and revoke', 'payer bob', [
    createApproveCheckedInstruction(of('bob'), mint, key('alice'), key('bob'), 100, 2),
    createRevokeInstruction(of('bob'), key('bob')),
  ]),
  step('transfer as delegate', 'payer bob', [
    createTransferInstruction(of('alice'), of('bob'), key('bob'), 1_000),
  ]),
  step('burn', 'payer bob', [createBurnInstruction(of('bob'), mint, key('bob'), 50)]),
  step('burn checked', 'payer bob', [createBurnCheckedInstruction(of('bob'), mint, key('bob'), 25, 2)]),
  step('freeze', 'payer', [createFreezeAccountInstruction(of('bob'), mint, payer)]),
  step('fail: frozen', 'payer bob', [createTransferInstruction(of('bob'), of('alice'), key('bob'), 1)], {
    fails: true,
  }),
  step('thaw', 'payer', [createThawAccountInstruction(of('bob'), mint, payer)]),
  step('frozen account', 'payer', [
    createAccount('carol'),
    createFreezeAccountInstruction(of('carol'), mint, payer),
  ]),
  step('set close authority', 'payer alice', [
    createSetAuthorityInstruction(of('alice'), key('alice'), AuthorityType.CloseAccount, key('carol')),
  ]),
  step('set mint authority', 'payer', [
    createSetAuthorityInstruction(mint, payer, AuthorityType.MintTokens, key('alice')),
  ]),
  step('close token account', 'payer poor', [
    createAccount('poor'),
    createCloseAccountInstruction(of('poor'), payer, key('poor')),
  ]),
  step('convert amounts', 'payer', [
    createUiAmountToAmountInstruction(mint, '12.34'),
    createAmountToUiAmountInstruction(mint, 1_234),
  ]),
];

const multisigners = ['alice', 'bob', 'carol'].map(key);
const signers = [key('alice'), key('carol')];

const multisig: readonly Step[] = [
  step('create multisig', 'payer multisig', [
    create('multisig', MULTISIG_SIZE),
    createInitializeMultisigInstruction(key('multisig'), multisigners, 2),
  ]),
  step('create mint of multisig', 'payer multimint', [
    ...createMint('multimint', key('multisig'), 0),
    createAccount('alice', 'multimint'),
  ]),
  step('mint by multisig', 'payer alice carol', [
    createMintToInstruction(
      key('multimint'),
      tokenAccount('alice', 'multimint'),
      key('multisig'),
      3,
      signers,
    ),
  ]),
  step(
    'fail: too few signers',
    'payer alice',
    [
      createMintToInstruction(key('multimint'), tokenAccount('alice', 'multimint'), key('multisig'), 3, [
        key('alice'),
      ]),
    ],
    { fails: true },
  ),
];

const wrapped = (owner: string): PublicKey => tokenAccount(owner, NATIVE_MINT);
const wrap = (owner: string, lamports: number): TransactionInstruction[] => [
  createAssociatedTokenAccountInstruction(payer, wrapped(owner), key(owner), NATIVE_MINT),
  SystemProgram.transfer({ fromPubkey: payer, toPubkey: wrapped(owner), lamports }),
  createSyncNativeInstruction(wrapped(owner)),
];

const native: readonly Step[] = [
  step('wrap', 'payer', wrap('alice', SOL)),
  step('wrap and unwrap', 'payer bob', [
    ...wrap('bob', SOL),
    createCloseAccountInstruction(wrapped('bob'), key('bob'), key('bob')),
  ]),
];

const failures: readonly Step[] = [
  step(
    'fail: too few tokens',
    'payer alice',
    [createTransferInstruction(of('alice'), of('bob'), key('alice'), 10_000_000)],
    { fails: true },
  ),
  step(
    'fail: token owner',
    'payer carol',
    [createTransferInstruction(of('alice'), of('bob'), key('carol'), 1)],
    { fails: true },
  ),
  step(
    'fail: token decimals',
    'payer alice',
    [createTransferCheckedInstruction(of('alice'), mint, of('bob'), key('alice'), 1, 3)],
    { fails: true },
  ),
  step('fail: account exists already', 'payer', [createAccount('alice')], { fails: true }),
  step(
    'fail: close with tokens',
    'payer carol',
    [createCloseAccountInstruction(of('alice'), payer, key('carol'))],
    { fails: true },
  ),
  step('fail: not a mint', 'payer', [createMintToInstruction(key('data'), of('alice'), payer, 1)], {
    fails: true,
  }),
];

/** The Token program. */
export const tokenSteps: readonly Step[] = [...lifeCycle, ...multisig, ...native, ...failures];
