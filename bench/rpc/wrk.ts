import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

export type Load = Readonly<{ requests: number; failures: number; p50Ms: number; p99Ms: number }>;

const BODY =
  '{"jsonrpc":"2.0","id":1,"method":"getAccountInfo","params":["So11111111111111111111111111111111111111112",{"encoding":"base64","commitment":"confirmed"}]}';

/** A wrk script that posts the same call under each of the keys in turn. */
export function writeLoadScript(dir: string, path: string, keys: readonly string[]): string {
  const file = join(dir, 'load.lua');
  writeFileSync(
    file,
    `local keys = { ${keys.map((key) => `"${key}"`).join(', ')} }
local prepared, turn = {}, 0
init = function()
  for i, key in ipairs(keys) do
    prepared[i] = wrk.format("POST", "${path}", {
      ["Content-Type"] = "application/json", ["Authorization"] = "Bearer " .. key }, '${BODY}')
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
end
`,
  );
  return file;
}

/** Loads a server for a while with one wrk thread. */
export async function load(
  script: string,
  options: Readonly<{ port: number; connections: number; seconds: number; cpu: number }>,
): Promise<Load> {
  const { stdout } = await run('taskset', [
    ...['-c', String(options.cpu), 'wrk', '-t1', `-c${options.connections}`, `-d${options.seconds}s`],
    ...['-s', script, `http://127.0.0.1:${options.port}`],
  ]);
  const match = /RESULT (\d+) (\d+) (\d+) (\d+)/.exec(stdout);
  if (match === null) throw new Error(`wrk gave no result:\n${stdout}`);
  const [requests = 0, failures = 0, p50 = 0, p99 = 0] = match.slice(1).map(Number);
  return { requests, failures, p50Ms: p50 / 1000, p99Ms: p99 / 1000 };
}
