import { createHash } from 'node:crypto';
import {
  AccountState,
  createAssociatedTokenAccountInstruction,
  createCloseAccountInstruction,
  createEnableCpiGuardInstruction,
  createEnableRequiredMemoTransfersInstruction,
  createHarvestWithheldTokensToMintInstruction,
  createInitializeDefaultAccountStateInstruction,
  createInitializeGroupPointerInstruction,
  createInitializeInterestBearingMintInstruction,
  createInitializeMetadataPointerInstruction,
  createInitializeMint2Instruction,
  createInitializeMintCloseAuthorityInstruction,
  createInitializeNonTransferableMintInstruction,
  createInitializePausableConfigInstruction,
  createInitializePermanentDelegateInstruction,
  createInitializeScaledUiAmountConfigInstruction,
  createInitializeTransferFeeConfigInstruction,
  createInitializeTransferHookInstruction,
  createMintToInstruction,
  createPauseInstruction,
  createReallocateInstruction,
  createResumeInstruction,
  createSetTransferFeeInstruction,
  createTransferCheckedInstruction,
  createTransferCheckedWithFeeInstruction,
  createUpdateRateInterestBearingMintInstruction,
  createWithdrawWithheldTokensFromAccountsInstruction,
  ExtensionType,
  getMintLen,
  TOKEN_2022_PROGRAM_ID as PROGRAM,
} from '@solana/spl-token';
import { PublicKey, SystemProgram, TransactionInstruction } from '@solana/web3.js';
import { key, tokenAccount } from '../actors.ts';
import { rent, type Step, step } from './step.ts';
import { memo } from './system.ts';

const payer = key('payer');
const mint = key('mint22');
const of = (owner: string, mintName = 'mint22'): PublicKey => tokenAccount(owner, mintName);

/** Space for metadata that is written after the mint, paid for in advance. */
const METADATA_BYTES = 400;

function createMint(
  name: string,
  extensions: readonly ExtensionType[],
  initialize: readonly TransactionInstruction[],
  decimals: number,
): TransactionInstruction[] {
  const space = getMintLen([...extensions]);
  return [
    SystemProgram.createAccount({
      ...{ fromPubkey: payer, newAccountPubkey: key(name), space },
      ...{ lamports: rent(space + METADATA_BYTES), programId: PROGRAM },
    }),
    ...initialize,
    createInitializeMint2Instruction(key(name), decimals, payer, payer, PROGRAM),
  ];
}

const createAccount = (owner: string, mintName = 'mint22'): TransactionInstruction =>
  createAssociatedTokenAccountInstruction(payer, of(owner, mintName), key(owner), key(mintName), PROGRAM);

const text = (value: string): Buffer => {
  const length = Buffer.alloc(4);
  length.writeUInt32LE(Buffer.byteLength(value));
  return Buffer.concat([length, Buffer.from(value)]);
};

/** An instruction of an SPL interface: a hash of its name, then its fields. */
function interfaceCall(
  name: string,
  accounts: readonly (readonly [PublicKey, 'w' | 's' | 'r'])[],
  ...fields: readonly Uint8Array[]
): TransactionInstruction {
  const discriminator = createHash('sha256').update(name).digest().subarray(0, 8);
  return new TransactionInstruction({
    programId: PROGRAM,
    keys: accounts.map(([pubkey, role]) => ({ pubkey, isSigner: role === 's', isWritable: role === 'w' })),
    data: Buffer.concat([discriminator, ...fields]),
  });
}

const METADATA = 'spl_token_metadata_interface';
const GROUP = 'spl_token_group_interface';

const createAll: readonly Step[] = [
  step(
    'create mint22',
    'payer mint22',
    createMint(
      'mint22',
      [
        ExtensionType.TransferFeeConfig,
        ExtensionType.MintCloseAuthority,
        ExtensionType.PermanentDelegate,
        ExtensionType.MetadataPointer,
        ExtensionType.TransferHook,
        ExtensionType.PausableConfig,
      ],
      [
        createInitializeTransferFeeConfigInstruction(mint, payer, payer, 100, 1_000n, PROGRAM),
        createInitializeMintCloseAuthorityInstruction(mint, payer, PROGRAM),
        createInitializePermanentDelegateInstruction(mint, key('carol'), PROGRAM),
        createInitializeMetadataPointerInstruction(mint, payer, mint, PROGRAM),
        createInitializeTransferHookInstruction(mint, payer, PublicKey.default, PROGRAM),
        createInitializePausableConfigInstruction(mint, payer, PROGRAM),
      ],
      3,
    ),
  ),
  step(
    'create mint22 with interest',
    'payer mint22-interest',
    createMint(
      'mint22-interest',
      [ExtensionType.InterestBearingConfig, ExtensionType.DefaultAccountState],
      [
        createInitializeInterestBearingMintInstruction(key('mint22-interest'), payer, 500, PROGRAM),
        createInitializeDefaultAccountStateInstruction(key('mint22-interest'), AccountState.Frozen, PROGRAM),
      ],
      2,
    ),
  ),
  step(
    'create mint22 with scale',
    'payer mint22-scaled',
    createMint(
      'mint22-scaled',
      [ExtensionType.ScaledUiAmountConfig],
      [createInitializeScaledUiAmountConfigInstruction(key('mint22-scaled'), payer, 2.5, PROGRAM)],
      1,
    ),
  ),
  step(
    'create mint22 not transferable',
    'payer mint22-bound',
    createMint(
      'mint22-bound',
      [ExtensionType.NonTransferable],
      [createInitializeNonTransferableMintInstruction(key('mint22-bound'), PROGRAM)],
      0,
    ),
  ),
  step(
    'create mint22 of a group',
    'payer mint22-group',
    createMint(
      'mint22-group',
      [ExtensionType.GroupPointer],
      [createInitializeGroupPointerInstruction(key('mint22-group'), payer, key('mint22-group'), PROGRAM)],
      0,
    ),
  ),
];

const U32_TEN = Buffer.from([10, 0, 0, 0, 0, 0, 0, 0]);

const metadata: readonly Step[] = [
  step('write metadata', 'payer', [
    interfaceCall(
      `${METADATA}:initialize_account`,
      [
        [mint, 'w'],
        [payer, 'r'],
        [mint, 'r'],
        [payer, 's'],
      ],
      ...['Example', 'EXM', 'https://example.com/token.json'].map(text),
    ),
  ]),
  step('update metadata', 'payer', [
    interfaceCall(
      `${METADATA}:updating_field`,
      [
        [mint, 'w'],
        [payer, 's'],
      ],
      ...[Buffer.from([3]), text('color'), text('red')],
    ),
  ]),
  step('write group', 'payer', [
    interfaceCall(
      `${GROUP}:initialize_token_group`,
      [
        [key('mint22-group'), 'w'],
        [key('mint22-group'), 'r'],
        [payer, 's'],
      ],
      ...[payer.toBytes(), U32_TEN],
    ),
  ]),
];

const use: readonly Step[] = [
  step('create token22 accounts', 'payer', [createAccount('alice'), createAccount('bob')]),
  step('mint tokens22', 'payer', [createMintToInstruction(mint, of('alice'), payer, 1_000_000, [], PROGRAM)]),
  step('transfer tokens22', 'payer alice', [
    createTransferCheckedInstruction(of('alice'), mint, of('bob'), key('alice'), 10_000, 3, [], PROGRAM),
  ]),
  step('transfer tokens22 with fee', 'payer alice', [
    createTransferCheckedWithFeeInstruction(
      of('alice'),
      mint,
      of('bob'),
      key('alice'),
      20_000n,
      3,
      200n,
      [],
      PROGRAM,
    ),
  ]),
  step('harvest fees', 'payer', [createHarvestWithheldTokensToMintInstruction(mint, [of('bob')], PROGRAM)]),
  step('transfer tokens22 as permanent delegate', 'payer carol', [
    createTransferCheckedInstruction(of('alice'), mint, of('bob'), key('carol'), 30_000, 3, [], PROGRAM),
  ]),
  step('withdraw fees', 'payer', [
    createWithdrawWithheldTokensFromAccountsInstruction(mint, of('alice'), payer, [], [of('bob')], PROGRAM),
  ]),
  step('set transfer fee', 'payer', [createSetTransferFeeInstruction(mint, payer, [], 250, 5_000n, PROGRAM)]),
  step('pause', 'payer', [createPauseInstruction(mint, payer, [], PROGRAM)]),
  step(
    'fail: paused',
    'payer alice',
    [createTransferCheckedInstruction(of('alice'), mint, of('bob'), key('alice'), 1, 3, [], PROGRAM)],
    { fails: true },
  ),
  step('resume', 'payer', [createResumeInstruction(mint, payer, [], PROGRAM)]),
  step('require memos', 'payer bob', [
    createReallocateInstruction(
      of('bob'),
      payer,
      [ExtensionType.MemoTransfer, ExtensionType.CpiGuard],
      key('bob'),
      [],
      PROGRAM,
    ),
    createEnableRequiredMemoTransfersInstruction(of('bob'), key('bob'), [], PROGRAM),
    createEnableCpiGuardInstruction(of('bob'), key('bob'), [], PROGRAM),
  ]),
  step(
    'fail: no memo',
    'payer alice',
    [createTransferCheckedInstruction(of('alice'), mint, of('bob'), key('alice'), 1, 3, [], PROGRAM)],
    { fails: true },
  ),
  step('transfer tokens22 with memo', 'payer alice', [
    memo('thanks'),
    createTransferCheckedInstruction(of('alice'), mint, of('bob'), key('alice'), 1_000, 3, [], PROGRAM),
  ]),
];

const others: readonly Step[] = [
  step('frozen by default', 'payer', [createAccount('alice', 'mint22-interest')]),
  step('change interest', 'payer', [
    createUpdateRateInterestBearingMintInstruction(key('mint22-interest'), payer, 600, [], PROGRAM),
  ]),
  step('mint scaled tokens', 'payer', [
    createAccount('alice', 'mint22-scaled'),
    createMintToInstruction(key('mint22-scaled'), of('alice', 'mint22-scaled'), payer, 42, [], PROGRAM),
  ]),
  step('mint bound tokens', 'payer', [
    createAccount('alice', 'mint22-bound'),
    createAccount('bob', 'mint22-bound'),
    createMintToInstruction(key('mint22-bound'), of('alice', 'mint22-bound'), payer, 1, [], PROGRAM),
  ]),
  step(
    'fail: bound tokens',
    'payer alice',
    [
      createTransferCheckedInstruction(
        of('alice', 'mint22-bound'),
        key('mint22-bound'),
        of('bob', 'mint22-bound'),
        key('alice'),
        1,
        0,
        [],
        PROGRAM,
      ),
    ],
    { fails: true },
  ),
  step('close token22 account', 'payer bob', [
    createCloseAccountInstruction(of('bob', 'mint22-bound'), payer, key('bob'), [], PROGRAM),
  ]),
];

/** The Token-2022 program and its extensions. */
export const token2022Steps: readonly Step[] = [...createAll, ...metadata, ...use, ...others];
