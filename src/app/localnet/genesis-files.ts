import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readAccountDir, readAccountFile } from '../../../packages/localnet/src/genesis/account-file.ts';
import { shredVersion } from '../../../packages/localnet/src/genesis/shred-version.ts';
import type { Contact, Genesis } from '../../../packages/localnet/src/node.ts';
import { FEATURE_SET, VERSION } from '../../../packages/localnet/src/version.ts';
import { ArgumentsError } from '../../config/errors.ts';
import type { Account } from '../../solana/account/account.ts';
import { type Address, parseAddress } from '../../solana/address.ts';
import { Keypair } from '../../solana/ed25519.ts';
import { programs } from '../../solana/programs.ts';
import { LAMPORTS_PER_SOL, lamports, U64_MAX } from '../../solana/units.ts';
import { wellKnownProgram } from './well-known-programs.ts';

/** Writes `validator.log` with the lines that tools look for in solana-test-validator's log. */
export function writeValidatorLog(dir: string, genesis: Genesis, contact: Contact, now: Date): void {
  const features = FEATURE_SET.toString(16).padStart(8, '0');
  const lines = [
    ['agave_validator', `agave-validator ${VERSION} (src:00000000; feat:${features}, client:Agave)`],
    ['agave_validator', `identity pubkey: ${genesis.identity}`],
    ['solana_core::validator', `vote account pubkey: ${genesis.voteAccount}`],
    ['solana_core::validator', `genesis hash: ${genesis.hash}`],
    ['solana_core::validator', `shred_version: ${shredVersion(genesis.hash)}`],
    ['solana_core::validator', `local gossip address: ${contact.gossip}`],
    ['solana_rpc::rpc_service', `rpc bound to ${contact.rpc}`],
  ];
  const stamp = now.toISOString().replace('Z', '000000Z');
  const text = lines.map(([module, line]) => `[${stamp} INFO  ${module}] ${line}\n`).join('');
  writeFileSync(join(dir, 'validator.log'), text);
}

/**
 * Accounts and programs for a new ledger. A keypair file may be given instead of an address, and for a program also the
 * name of a well-known one. For an account, `-` means the address in the account file.
 */
type GenesisFiles = Readonly<{
  /** Address and file of each account. */
  accounts: readonly (readonly string[])[];
  accountDirs: readonly string[];
  /** Address, file and upgrade authority of each program. The authority is an address or `none` (the default). */
  programs: readonly (readonly string[])[];
  /** Address of the account that receives the genesis lamports; null: none. */
  mint: string | null;
}>;

export type GenesisContent = Readonly<{
  accounts: readonly (readonly [Address, Account])[];
  programs: readonly (readonly [Address, Uint8Array, Address | null])[];
}>;

const PROGRAM_FILE_MAX_BYTES = 10 * 1024 * 1024;
const ELF_MAGIC = Buffer.from([0x7f, 0x45, 0x4c, 0x46]);

const KEYPAIR_FILE_MAX_BYTES = 4096;

/** Parses an address or reads it from a keypair file, as solana-test-validator does. */
export function addressArgument(option: string, text: string): Address {
  const parsed = parseAddress(text);
  if ('address' in parsed) return parsed.address;
  const stat = statSync(text, { throwIfNoEntry: false });
  const keypair = stat?.isFile() && stat.size <= KEYPAIR_FILE_MAX_BYTES ? readKeypair(text) : null;
  if (keypair !== null) return keypair.address;
  throw new ArgumentsError(
    `${option}: "${text.slice(0, 64)}" is neither a base58 address of 32 bytes nor a keypair file`,
  );
}

/** Like `addressArgument`; also accepts the name of a well-known program. */
export function programArgument(option: string, text: string): Address {
  return wellKnownProgram(text)?.address ?? addressArgument(option, text);
}

/** @returns null for an invalid file, so that an error never contains the content of the file. */
function readKeypair(file: string): Keypair | null {
  try {
    return Keypair.fromJson(readFileSync(file, 'utf8'));
  } catch {
    return null;
  }
}

const ADDRESS_FROM_FILE = '-';

function readAccount(address: string, file: string): [Address, Account] {
  return readAccountFile(
    file,
    address === ADDRESS_FROM_FILE ? undefined : addressArgument('--account', address),
  );
}

function readProgramFile(file: string): Uint8Array {
  const size = statSync(file, { throwIfNoEntry: false })?.size;
  if (size === undefined) throw new Error(`${file} does not exist: build the program with cargo build-sbf`);
  if (size > PROGRAM_FILE_MAX_BYTES)
    throw new Error(`${file} is larger than ${PROGRAM_FILE_MAX_BYTES} bytes`);
  const bytes = readFileSync(file);
  if (!bytes.subarray(0, ELF_MAGIC.length).equals(ELF_MAGIC)) {
    throw new Error(`${file} is not a compiled program: pass the .so file that cargo build-sbf creates`);
  }
  return new Uint8Array(bytes);
}

/** Balance of the mint account, as in solana-test-validator. */
const MINT_SOL = 500_000_000n;

const mintAccount = (): Account => ({
  lamports: lamports(MINT_SOL * LAMPORTS_PER_SOL),
  data: new Uint8Array(),
  owner: programs.system,
  executable: false,
  rentEpoch: U64_MAX,
});

function readProgram(option: string, [address = '', file = '', authority = 'none']: readonly string[]) {
  const upgradeAuthority = authority === 'none' ? null : addressArgument(option, authority);
  return [programArgument(option, address), readProgramFile(file), upgradeAuthority] as const;
}

/** @throws Error that names the file and the remedy; ArgumentsError for an invalid address */
export function readGenesisFiles(files: GenesisFiles): GenesisContent {
  const { accounts, accountDirs, mint } = files;
  return {
    accounts: [
      ...(mint === null ? [] : [[addressArgument('--mint', mint), mintAccount()] as const]),
      ...accountDirs.flatMap(readAccountDir),
      ...accounts.map(([address = '', file = '']) => readAccount(address, file)),
    ],
    programs: files.programs.map((program) =>
      readProgram(program.length > 2 ? '--upgradeable-program' : '--bpf-program', program),
    ),
  };
}
