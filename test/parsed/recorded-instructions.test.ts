import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as spl from '@solana/spl-token';
import { PublicKey, SystemProgram, Transaction, type TransactionInstruction } from '@solana/web3.js';
import { describe, expect, it } from 'vitest';
import { type Address, address } from '../../src/solana/address.ts';
import { parsed as parse } from './rows/row.ts';

/** Needs ../shared/data/rest/getTransaction/formfunction: jsonParsed transactions of mainnet and devnet. */
const folder = join(import.meta.dirname, '../../../shared/data/rest/getTransaction/formfunction');

// biome-ignore lint/suspicious/noExplicitAny: recorded answers have no type of their own
type Recorded = any;

const authorityTypes: Record<string, spl.AuthorityType> = {
  mintTokens: spl.AuthorityType.MintTokens,
  freezeAccount: spl.AuthorityType.FreezeAccount,
  accountOwner: spl.AuthorityType.AccountOwner,
  closeAccount: spl.AuthorityType.CloseAccount,
};

/** Arguments of a client builder by their names in the recording. `!name` may be a multisig. */
function argumentsOf(info: Recorded, names: string): unknown[] {
  const key = (text: string | null | undefined) => (text ? new PublicKey(text) : null);
  return names.split(' ').map((name) => {
    if (name.startsWith('!')) {
      const own = name.slice(1);
      return key(info[own] ?? info[`multisig${own[0]?.toUpperCase()}${own.slice(1)}`]);
    }
    if (name === 'signers') return (info.signers ?? []).map(key);
    if (name === 'amount') return BigInt(info.amount ?? info.tokenAmount.amount);
    if (name === 'decimals') return info.decimals ?? info.tokenAmount.decimals;
    if (name === 'authorityType') return authorityTypes[info.authorityType];
    return key(name === 'owned' ? (info.mint ?? info.account) : info[name]);
  });
}

type Build = (...given: never[]) => TransactionInstruction;

/** Client builders with the names of their arguments. */
const tokenBuilders: Record<string, readonly [Build, string]> = {
  transfer: [spl.createTransferInstruction, 'source destination !authority amount signers'],
  transferChecked: [
    spl.createTransferCheckedInstruction,
    'source mint destination !authority amount decimals signers',
  ],
  approve: [spl.createApproveInstruction, 'source delegate !owner amount signers'],
  revoke: [spl.createRevokeInstruction, 'source !owner signers'],
  mintTo: [spl.createMintToInstruction, 'mint account !mintAuthority amount signers'],
  closeAccount: [spl.createCloseAccountInstruction, 'account destination !owner signers'],
  freezeAccount: [spl.createFreezeAccountInstruction, 'account mint !freezeAuthority signers'],
  thawAccount: [spl.createThawAccountInstruction, 'account mint !freezeAuthority signers'],
  setAuthority: [spl.createSetAuthorityInstruction, 'owned !authority authorityType newAuthority signers'],
  initializeMint: [spl.createInitializeMintInstruction, 'mint decimals mintAuthority freezeAuthority'],
  initializeAccount: [spl.createInitializeAccountInstruction, 'account mint owner'],
  initializeAccount3: [spl.createInitializeAccount3Instruction, 'account mint owner'],
};

function built(program: string, type: string, info: Recorded): TransactionInstruction {
  const key = (name: string): PublicKey => new PublicKey(info[name]);
  if (program === 'system') {
    const accounts = { fromPubkey: info.source, toPubkey: info.destination, accountPubkey: info.account };
    const given = { ...accounts, newAccountPubkey: info.newAccount, programId: info.owner };
    const keys = Object.entries(given).flatMap(([name, text]) =>
      text === undefined ? [] : [[name, new PublicKey(text)] as const],
    );
    const { lamports, space } = info;
    const build = SystemProgram[type as 'transfer'] as unknown as (of: object) => unknown;
    const made = build.call(SystemProgram, { ...Object.fromEntries(keys), lamports, space });
    return (made instanceof Transaction ? made.instructions[0] : made) as TransactionInstruction;
  }
  if (program === 'spl-associated-token-account') {
    return spl.createAssociatedTokenAccountInstruction(
      ...([key('source'), key('account'), key('wallet'), key('mint')] as const),
      key('tokenProgram'),
    );
  }
  if (type === 'initializeImmutableOwner')
    return spl.createInitializeImmutableOwnerInstruction(key('account'), spl.TOKEN_PROGRAM_ID);
  if (type === 'getAccountDataSize') {
    const types = info.extensionTypes === undefined ? [] : [spl.ExtensionType.ImmutableOwner, 0];
    const keys = [{ pubkey: key('mint'), isSigner: false, isWritable: false }];
    return { programId: spl.TOKEN_PROGRAM_ID, keys, data: Buffer.from([21, ...types]) };
  }
  const [build, names] = tokenBuilders[type] ?? [];
  if (build === undefined) throw new Error(`no builder for ${program} ${type}`);
  return build(...(argumentsOf(info, names ?? '') as never[]));
}

function recordedIn(file: string): Recorded[] {
  const { transaction, meta } = JSON.parse(readFileSync(join(folder, file), 'utf8'));
  const inner = (meta.innerInstructions ?? []).flatMap(({ instructions }: Recorded) => instructions);
  return [...transaction.message.instructions, ...inner].filter((instruction) => 'parsed' in instruction);
}

const present = existsSync(folder);
const recorded = present ? readdirSync(folder).flatMap(recordedIn) : [];

describe.skipIf(!present)('recorded parsed instructions (../shared/data, formfunction)', () => {
  it('have the same members in the same order', () => {
    for (const { program, parsed } of recorded) {
      const { programId, keys, data } = built(program, parsed.type, parsed.info);
      // Newer nodes no longer name this account.
      const { rentSysvar, ...rest } = parsed.info;
      const info = program === 'spl-associated-token-account' ? rest : parsed.info;
      const accounts = keys.map(({ pubkey }): Address => address(pubkey.toBase58()));
      const shown = parse(address(programId.toBase58()), accounts, data) as { parsed: object };
      expect(JSON.stringify(shown.parsed)).toBe(JSON.stringify({ info, type: parsed.type }));
    }
    expect(recorded.length).toBeGreaterThan(140);
  });
});
