import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { loadConfiguration } from '../../src/config/configuration.ts';
import { ConfigurationError } from '../../src/config/errors.ts';
import { scratchFolder } from './engine/scratch.ts';

export const from = 'the operator';
export const covers = [
  'config/value-types.ts',
  'config/sources.ts',
  'config/value-types.ts',
  'config/configuration.ts',
];

const SECRET = 'vErYsEcReT';
const example = `data_dir = "./data"
[server]
host = "127.0.0.1"
port = 8899
[networks]
default = "devnet"
[[upstream]]
network = "devnet"
url = "https://a.example/${SECRET}"
ws = "wss://a.example/"
headers = { authorization = "env:TOKEN" }
[[das]]
url = "https://das.example/"
[cache]
redis_url = "redis://:${SECRET}@127.0.0.1/"
[plans.default]
rpc_per_second = 50
`;

/** Files of TOML; or, behind the byte 0xff, values of the environment, a line each. */
export const seeds: readonly Uint8Array[] = [
  Buffer.from(example),
  Buffer.from('[[upstream]]\nurl = 5\n[server]\nport = "x"\nnone = 1979-05-27T07:32:00Z\n'),
  Buffer.from('[grpc]\nport = 0\n[shreds]\nenabled = true\n[[shreds.entries]]\nurl = "http://a.example"\n'),
  Buffer.from(
    '[server.tls]\ncert_file = "a"\nkey_file = "b"\n[rest]\nenabled = true\n[off_chain]\nipfs_gateways = ["https://a.example/"]\nallow_networks = ["10.0.0.0/8"]\n[accounts]\npublic_url = "http://x"\n',
  ),
  Buffer.of(0xff, ...Buffer.from('data\n127.0.0.1\n8899\n10000\ndevnet\ninfo\n\npostgres://x/y\nredis://x/')),
];

const config = join(scratchFolder('configuration'), 'solway.toml');
const variables = ['SOLWAY_DATA_DIR', 'SOLWAY_HOST', 'SOLWAY_PORT', 'SOLWAY_GRPC_PORT', 'SOLWAY_NETWORK'];
const more = ['SOLWAY_LOG_LEVEL', 'SOLWAY_LOG_FILE', 'DATABASE_URL', 'REDIS_URL'];

function environmentIn(text: string): Record<string, string> {
  const values = text.split('\n');
  const named = [...variables, ...more].map((name, at): [string, string] => [name, values[at] ?? '']);
  return Object.fromEntries([...named, ['TOKEN', SECRET]]);
}

/** A URL: who is let in, the host, and what stands behind it; in the first and the last providers have their keys. */
const PARTS = /:\/\/(?:[^\s"'/?#]*@)?([^\s"'/?#]*)(?:[/?#][^\s"']*)?/g;
/** Whether the secret stands nowhere else: a host, a folder or a plan of its name may be told. */
const isHidden = (text: string): boolean => !text.replaceAll(PARTS, '$1').includes(SECRET);

/** The configuration is complete, or each problem is told in words that hold no value of a secret. */
export function fuzz(bytes: Uint8Array): boolean {
  const isEnvironment = bytes[0] === 0xff;
  const text = Buffer.from(bytes.subarray(isEnvironment ? 1 : 0)).toString();
  // Where such a value stands is read as a file's name: of whatever file there is.
  if (text.includes('file:')) return false;
  writeFileSync(config, isEnvironment ? example : text);
  try {
    loadConfiguration({ config, upstreams: [] }, environmentIn(isEnvironment ? text : ''));
    return true;
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error;
    if (error.problems.length === 0) throw new Error('refused without a word of why');
    if (isHidden(text) && error.problems.some(({ message }) => message.includes(SECRET)))
      throw new Error('tells a secret');
    return false;
  }
}
