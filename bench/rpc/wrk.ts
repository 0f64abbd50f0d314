import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { boundTo, findProgram, LOAD_CPU } from './processes.ts';

const run = promisify(execFile);

export type Load = Readonly<{ requests: number; p50Ms: number; p99Ms: number }>;

/** Calls of a load, which use the keys in turn. */
export type LoadOptions = Readonly<{
  /** File to write. */
  file: string;
  keys: readonly string[];
  method: string;
  /** Raw JSON; `@` is replaced by one of `different` addresses. */
  params: string;
  different?: number;
}>;

/** @throws Error when wrk is not installed. */
export function needWrk(): void {
  if (findProgram('wrk') === null) throw new Error('wrk is not installed: apt-get install -y wrk');
}

const TIMEOUT_SECONDS = 10;

/** Number of distinct requests that defeats caches. */
export const MANY = 65_536;

/** Writes a wrk script that posts calls. @returns its file. */
export function writeLoadScript({ file, keys, method, params, different = 1 }: LoadOptions): string {
  const requests = Math.max(different, keys.length);
  writeFileSync(
    file,
    `local keys = { ${keys.map((key) => `"${key}"`).join(', ')} }
local body = '{"jsonrpc":"2.0","id":1,"method":"${method}","params":${params}}'
local prepared, turn = {}, 0
init = function()
  for i = 1, ${requests} do
    local address = string.gsub(string.format("Account%037d", (i - 1) % ${different}), "0", "z")
    prepared[i] = wrk.format("POST", "/v1/rpc", {
      ["Content-Type"] = "application/json", ["Authorization"] = "Bearer " .. keys[(i - 1) % #keys + 1] },
      (string.gsub(body, "@", address)))
  end
end
request = function()
  turn = turn % #prepared + 1
  return prepared[turn]
end
done = function(summary, latency)
  local errors = summary.errors
  local failed = errors.connect + errors.read + errors.write + errors.status + errors.timeout
  io.write(string.format("RESULT %d %d %d %d\\n", summary.requests, failed,
    latency:percentile(50), latency:percentile(99)))
  io.write(string.format("FAILED connect %d, read %d, write %d, status %d, timeout %d\\n",
    errors.connect, errors.read, errors.write, errors.status, errors.timeout))
end
`,
  );
  return file;
}

/**
 * Loads a server with one thread of wrk.
 * @throws Error when a request failed.
 */
export async function load(
  script: string,
  server: Readonly<{ name: string; port: number }>,
  { connections, seconds }: Readonly<{ connections: number; seconds: number }>,
): Promise<Load> {
  const args = [
    ...['-t1', `-c${connections}`, `-d${seconds}s`, '--timeout', `${TIMEOUT_SECONDS}s`],
    ...['-s', script, `http://127.0.0.1:${server.port}`],
  ];
  const { stdout } = await run(...boundTo(LOAD_CPU, 'wrk', args));
  const match = /RESULT (\d+) (\d+) (\d+) (\d+)/.exec(stdout);
  if (match === null) throw new Error(`wrk gave no result:\n${stdout}`);
  const [requests = 0, failures = 0, p50 = 0, p99 = 0] = match.slice(1).map(Number);
  if (failures > 0 || requests === 0)
    throw new Error(
      `${server.name} failed ${failures} of ${requests} requests: the comparison is invalid\n${stdout.slice(stdout.indexOf('FAILED'))}`,
    );
  return { requests, p50Ms: p50 / 1000, p99Ms: p99 / 1000 };
}
