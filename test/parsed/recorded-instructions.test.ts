import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as spl from '@solana/spl-token';
import { PublicKey, SystemProgram, type TransactionInstruction } from '@solana/web3.js';
import { describe, expect, it } from 'vitest';
import { only, parsedJson } from './built.ts';

/** Needs ../shared/data/rest/getTransaction/formfunction: jsonParsed transactions of mainnet and devnet. */
const folder = join(import.meta.dirname, '../../../shared/data/rest/getTransaction/formfunction');

type Info = {
  source: string;
  destination: string;
  account: string;
  newAccount: string;
  mint: string;
  owner: string;
  wallet: string;
  delegate: string;
  tokenProgram: string;
  mintAuthority: string;
  freezeAuthority?: string;
  authorityType: string;
  newAuthority: string | null;
  amount: string;
  rentSysvar?: string;
  lamports: number;
  space: number;
  decimals: number;
  signers?: string[];
  tokenAmount: { amount: string; decimals: number };
  extensionTypes?: string[];
};
type Recorded = { program: string; parsed: { type: string; info: Info } };

const key = (text: string): PublicKey => new PublicKey(text);
/** Single authority, or a multisig with signers. */
function authority(info: Info, name: string): PublicKey {
  const named = info as unknown as Record<string, string>;
  const found = named[name] ?? named[`multisig${name[0]?.toUpperCase()}${name.slice(1)}`];
  if (found === undefined) throw new Error(`no ${name}`);
  return key(found);
}
const signers = (info: Info): PublicKey[] => (info.signers ?? []).map(key);

const authorityTypes: Record<string, spl.AuthorityType> = {
  mintTokens: spl.AuthorityType.MintTokens,
  freezeAccount: spl.AuthorityType.FreezeAccount,
  accountOwner: spl.AuthorityType.AccountOwner,
  closeAccount: spl.AuthorityType.CloseAccount,
};

/** Client builders for recorded instructions. */
const builders: Record<string, (info: Info) => TransactionInstruction> = {
  'system transfer': (i) =>
    SystemProgram.transfer({
      fromPubkey: key(i.source),
      toPubkey: key(i.destination),
      lamports: i.lamports,
    }),
  'system allocate': (i) => only(SystemProgram.allocate({ accountPubkey: key(i.account), space: i.space })),
  'system assign': (i) =>
    only(SystemProgram.assign({ accountPubkey: key(i.account), programId: key(i.owner) })),
  'system createAccount': (i) =>
    SystemProgram.createAccount({
      fromPubkey: key(i.source),
      newAccountPubkey: key(i.newAccount),
      lamports: i.lamports,
      space: i.space,
      programId: key(i.owner),
    }),
  'spl-associated-token-account create': (i) =>
    spl.createAssociatedTokenAccountInstruction(
      key(i.source),
      key(i.account),
      key(i.wallet),
      key(i.mint),
      key(i.tokenProgram),
    ),
  'spl-token transfer': (i) =>
    spl.createTransferInstruction(
      key(i.source),
      key(i.destination),
      authority(i, 'authority'),
      BigInt(i.amount),
      signers(i),
    ),
  'spl-token transferChecked': (i) =>
    spl.createTransferCheckedInstruction(
      key(i.source),
      key(i.mint),
      key(i.destination),
      authority(i, 'authority'),
      BigInt(i.tokenAmount.amount),
      i.tokenAmount.decimals,
      signers(i),
    ),
  'spl-token approve': (i) =>
    spl.createApproveInstruction(
      key(i.source),
      key(i.delegate),
      authority(i, 'owner'),
      BigInt(i.amount),
      signers(i),
    ),
  'spl-token revoke': (i) => spl.createRevokeInstruction(key(i.source), authority(i, 'owner'), signers(i)),
  'spl-token mintTo': (i) =>
    spl.createMintToInstruction(
      key(i.mint),
      key(i.account),
      authority(i, 'mintAuthority'),
      BigInt(i.amount),
      signers(i),
    ),
  'spl-token closeAccount': (i) =>
    spl.createCloseAccountInstruction(key(i.account), key(i.destination), authority(i, 'owner'), signers(i)),
  'spl-token freezeAccount': (i) =>
    spl.createFreezeAccountInstruction(
      key(i.account),
      key(i.mint),
      authority(i, 'freezeAuthority'),
      signers(i),
    ),
  'spl-token thawAccount': (i) =>
    spl.createThawAccountInstruction(
      key(i.account),
      key(i.mint),
      authority(i, 'freezeAuthority'),
      signers(i),
    ),
  'spl-token setAuthority': (i) =>
    spl.createSetAuthorityInstruction(
      key(i.mint ?? i.account),
      authority(i, 'authority'),
      authorityTypes[i.authorityType]!,
      i.newAuthority === null ? null : key(i.newAuthority),
      signers(i),
    ),
  'spl-token initializeMint': (i) =>
    spl.createInitializeMintInstruction(
      key(i.mint),
      i.decimals,
      key(i.mintAuthority),
      i.freezeAuthority === undefined ? null : key(i.freezeAuthority),
    ),
  'spl-token initializeAccount': (i) =>
    spl.createInitializeAccountInstruction(key(i.account), key(i.mint), key(i.owner)),
  'spl-token initializeAccount3': (i) =>
    spl.createInitializeAccount3Instruction(key(i.account), key(i.mint), key(i.owner)),
  'spl-token initializeImmutableOwner': (i) =>
    spl.createInitializeImmutableOwnerInstruction(key(i.account), spl.TOKEN_PROGRAM_ID),
  'spl-token getAccountDataSize': (i) => {
    const types = i.extensionTypes === undefined ? [] : [spl.ExtensionType.ImmutableOwner, 0];
    const data = Buffer.from([21, ...types]);
    const keys = [{ pubkey: key(i.mint), isSigner: false, isWritable: false }];
    return { programId: spl.TOKEN_PROGRAM_ID, keys, data };
  },
};

function recordedIn(file: string): Recorded[] {
  const { transaction, meta } = JSON.parse(readFileSync(join(folder, file), 'utf8'));
  const inner = (meta.innerInstructions ?? []).flatMap(
    ({ instructions }: { instructions: unknown[] }) => instructions,
  );
  return [...transaction.message.instructions, ...inner].filter((instruction) => 'parsed' in instruction);
}

const present = existsSync(folder);
const recorded = present ? readdirSync(folder).flatMap(recordedIn) : [];

describe.skipIf(!present)('recorded parsed instructions (../shared/data, formfunction)', () => {
  it('have the same members in the same order', () => {
    for (const { program, parsed } of recorded) {
      const build = builders[`${program} ${parsed.type}`];
      if (build === undefined) throw new Error(`no builder for ${program} ${parsed.type}`);
      // Newer nodes no longer name this account.
      const { rentSysvar, ...rest } = parsed.info;
      const info = program === 'spl-associated-token-account' ? rest : parsed.info;
      expect(JSON.stringify(parsedJson(build(info as Info)))).toBe(
        JSON.stringify({ info, type: parsed.type }),
      );
    }
    expect(recorded.length).toBeGreaterThan(140);
  });
});
