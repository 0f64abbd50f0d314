import { bad, type Finding, good } from '../../app/doctor/check.ts';
import { examine } from '../../app/doctor/doctor.ts';
import { loadConfiguration } from '../../config/configuration.ts';
import { ConfigurationError, describeProblem } from '../../config/errors.ts';
import { configurationArguments, configurationOptions, parseArguments } from '../../config/sources.ts';
import { type Command, exitCodes, rejectArgument, type Terminal } from '../command.ts';

const help = `Usage: solway doctor [options]

Checks the configuration, the data folder, the log file, the database, the pepper, the ports, the certificates,
the embedded ledger, every upstream node with its PubSub and Geyser, every sender, the shred sources and the
REST dependencies, and reports how to fix each problem. Creates the data folder, the log file, the database and
the pepper if they do not exist, as a start does.

Options:
  --config FILE     configuration file
  --json            print JSON
  All options of "solway up" are accepted and checked as well.

Exit codes: 0 without errors (warnings do not count), 1 otherwise.

Examples:
  solway doctor
  solway doctor --upstream https://host/path
  solway doctor --json
`;

const options = { ...configurationOptions, json: { type: 'boolean' } } as const;
const marks = { good: 'ok  ', warning: 'warn', bad: 'BAD ' } as const;

function configurationFindings(error: ConfigurationError): Finding[] {
  const subject = 'configuration';
  return error.problems.map((problem) => {
    const source = problem.source === subject ? '' : problem.source;
    return bad(subject, describeProblem({ ...problem, source }));
  });
}

type Parsed = ReturnType<typeof parseArguments>;

async function findAll(parsed: Parsed, terminal: Terminal): Promise<Finding[]> {
  try {
    const configuration = loadConfiguration(configurationArguments(parsed), terminal.environment);
    const text = configuration.file ?? 'no file, only defaults';
    return [good('configuration', text), ...(await examine(configuration, terminal.environment))];
  } catch (error) {
    if (error instanceof ConfigurationError) return configurationFindings(error);
    throw error;
  }
}

async function run(args: readonly string[], terminal: Terminal): Promise<number> {
  const parsed = parseArguments(args, options);
  rejectArgument('doctor', parsed.positionals[0]);
  const findings = await findAll(parsed, terminal);
  const ok = findings.every(({ verdict }) => verdict !== 'bad');
  if (parsed.values.json === true) terminal.out(`${JSON.stringify({ ok, findings }, null, 2)}\n`);
  else {
    terminal.out(
      findings.map(({ subject, verdict, text }) => `${marks[verdict]}  ${subject}: ${text}\n`).join(''),
    );
  }
  return ok ? exitCodes.ok : exitCodes.problem;
}

export const command: Command = { help, run };
