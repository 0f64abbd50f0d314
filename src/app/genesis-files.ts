import { readdirSync, readFileSync, statSync } from 'node:fs';
import { extname, join } from 'node:path';
import { type JsonValue, parseJson } from '../base/json.ts';
import type { Account } from '../ledger/account/account.ts';
import { type Address, parseAddress } from '../ledger/address.ts';
import { lamports, U64_MAX } from '../ledger/units.ts';

/** An account or program file that cannot be used; the message names the file and says what to mend. */
export class GenesisFileError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'GenesisFileError';
  }
}

const ACCOUNT_FILE_MAX_BYTES = 64 * 1024 * 1024;
const PROGRAM_FILE_MAX_BYTES = 32 * 1024 * 1024;
const ACCOUNT_DIR_FILES_MAX = 100_000;

function readBounded(file: string, maxBytes: number): Buffer {
  try {
    if (statSync(file).size > maxBytes)
      throw new GenesisFileError(`${file} is larger than ${maxBytes} bytes`);
    return readFileSync(file);
  } catch (error) {
    if (error instanceof GenesisFileError) throw error;
    const code = (error as NodeJS.ErrnoException).code ?? 'unreadable';
    throw new GenesisFileError(`${file} cannot be read (${code})`);
  }
}

/** The address in a command-line argument. @throws GenesisFileError */
export function addressArgument(option: string, text: string): Address {
  const parsed = parseAddress(text);
  if ('address' in parsed) return parsed.address;
  throw new GenesisFileError(`${option}: "${text.slice(0, 64)}" is not a base58 address of 32 bytes`);
}

const isObject = (value: JsonValue | undefined): value is { [name: string]: JsonValue } =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function u64(file: string, name: string, value: JsonValue | undefined): bigint {
  const number = typeof value === 'number' && Number.isSafeInteger(value) ? BigInt(value) : value;
  if (typeof number === 'bigint' && number >= 0n && number <= U64_MAX) return number;
  throw new GenesisFileError(`${file}: account.${name} is not an integer from 0 to ${U64_MAX}`);
}

function accountData(file: string, value: JsonValue | undefined): Uint8Array {
  const [text, encoding] = Array.isArray(value) ? value : [];
  if (typeof text !== 'string' || encoding !== 'base64') {
    throw new GenesisFileError(`${file}: account.data is not ["…", "base64"]: write it with --output json`);
  }
  return new Uint8Array(Buffer.from(text, 'base64'));
}

/**
 * The account in a file as `solana account --output json` writes it. u64 values are read to the last digit.
 * @throws GenesisFileError naming the member that is wrong.
 */
export function readAccountFile(file: string): readonly [Address | null, Account] {
  let json: JsonValue;
  try {
    json = parseJson(readBounded(file, ACCOUNT_FILE_MAX_BYTES).toString('utf8'));
  } catch (error) {
    if (error instanceof GenesisFileError) throw error;
    throw new GenesisFileError(`${file} is not JSON`);
  }
  const account = isObject(json) ? json.account : undefined;
  if (!isObject(json) || !isObject(account)) {
    throw new GenesisFileError(
      `${file} has no member "account": write it with "solana account --output json"`,
    );
  }
  const { pubkey } = json;
  return [
    typeof pubkey === 'string' ? addressArgument(`${file}: pubkey`, pubkey) : null,
    {
      lamports: lamports(u64(file, 'lamports', account.lamports)),
      data: accountData(file, account.data),
      owner: addressArgument(`${file}: account.owner`, String(account.owner)),
      executable: account.executable === true,
      rentEpoch: u64(file, 'rentEpoch', account.rentEpoch ?? 0),
    },
  ];
}

/** Every account file of a folder. @throws GenesisFileError */
export function readAccountDir(dir: string): (readonly [Address, Account])[] {
  let names: string[];
  try {
    names = readdirSync(dir).filter((name) => extname(name) === '.json');
  } catch {
    throw new GenesisFileError(`${dir} is not a folder that can be read`);
  }
  if (names.length > ACCOUNT_DIR_FILES_MAX)
    throw new GenesisFileError(`${dir} has more than ${ACCOUNT_DIR_FILES_MAX} files`);
  return names.map((name) => {
    const [address, account] = readAccountFile(join(dir, name));
    if (address === null) throw new GenesisFileError(`${join(dir, name)} has no member "pubkey"`);
    return [address, account] as const;
  });
}

const ELF_MAGIC = Buffer.from([0x7f, 0x45, 0x4c, 0x46]);

/** A compiled program. @throws GenesisFileError when it is not an ELF file. */
export function readProgramFile(file: string): Uint8Array {
  const bytes = readBounded(file, PROGRAM_FILE_MAX_BYTES);
  if (!bytes.subarray(0, 4).equals(ELF_MAGIC)) {
    throw new GenesisFileError(
      `${file} is not a compiled program: build it with cargo build-sbf and give the .so file`,
    );
  }
  return new Uint8Array(bytes);
}
