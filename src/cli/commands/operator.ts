import { type OperatorCommands, withOperatorCommands } from '../../app/commands/operators.ts';
import { configurationOptions } from '../../config/sources.ts';
import { type Action, actionCommand, storeConfiguration, text } from '../action-command.ts';
import { getAuditActor } from '../api-token.ts';

const help = `Usage: solway operator <action> [options]

Operators administer this service: they see all customers and all settings. Each signs in to the dashboard.

Actions:
  invite              print a link to become an operator; it works once and expires after seven days
    --email ADDRESS   only the person with this address can use the link
  list                list the operators
  remove ADDRESS      remove the operator role; the account stays
  link ADDRESS        link a subject of an OpenID Connect provider to an account, which its JWTs then act for
    --provider ID     required; id of the provider in the configuration
    --subject SUB     required; "sub" of the JWTs
  unlink SUB          remove the link
    --provider ID     required
  password ADDRESS    print a link to set a new password; it expires after an hour

Options of all actions:
  --config FILE, --data-dir DIR    where the accounts are stored
  --host HOST, --port PORT         address of the service for links, when accounts.public_url is not set and
                                   no service runs on this machine
  --json                           print JSON

Examples:
  solway operator invite --email anna@example.com
  solway operator password anna@example.com
`;

/** Names the address in the link if the operator did not set one: a link to a wrong port would leak the token. */
function urlNote({ dashboard: { url, from } }: OperatorCommands): string {
  if (from === 'running')
    return (
      `The link points to the service running here at ${url}.\n` +
      'If people reach it at another address, set accounts.public_url.\n'
    );
  if (from !== 'assumed') return '';
  return (
    `The link assumes a service at ${url}.\n` +
    'If yours runs elsewhere, pass its --host and --port, or set accounts.public_url.\n'
  );
}

type Job = Readonly<{
  commands: OperatorCommands;
  argument: string;
  email: string | null;
  provider: string;
  subject: string;
}>;

const actions: Readonly<Record<string, Action<Job>>> = {
  invite: {
    options: ['email'],
    async run({ commands, email }) {
      const link = await commands.invite(email);
      return {
        text: `${link}\n\nAnyone who opens this link becomes an operator. It is shown once.\n${urlNote(commands)}`,
        json: { link },
      };
    },
  },
  list: {
    async run({ commands }) {
      const operators = await commands.list();
      const lines = operators.map(
        ({ email, name, twoFactor }) =>
          `${email}  ${name}  ${twoFactor ? 'two-factor authentication' : 'password only'}\n`,
      );
      const text =
        lines.length === 0 ? 'No operators. Create one with: solway operator invite\n' : lines.join('');
      return { text, json: { operators } };
    },
  },
  remove: {
    argument: 'ADDRESS',
    async run({ commands, argument: address }) {
      await commands.remove(address);
      return { text: `${address} is no longer an operator.\n`, json: { done: true } };
    },
  },
  link: {
    argument: 'ADDRESS',
    options: ['provider', 'subject'],
    async run({ commands, argument: address, provider, subject }) {
      await commands.link(address, { provider, subject });
      return { text: `Linked ${subject} to ${address}.\n`, json: { done: true } };
    },
  },
  unlink: {
    argument: 'SUB',
    options: ['provider'],
    async run({ commands, argument: subject, provider }) {
      await commands.unlink({ provider, subject });
      return { text: `Unlinked ${subject}.\n`, json: { done: true } };
    },
  },
  password: {
    argument: 'ADDRESS',
    async run({ commands, argument: address }) {
      const link = await commands.passwordLink(address);
      return { text: `${link}\n\n${urlNote(commands)}`, json: { link } };
    },
  },
};

export const command = actionCommand<Job>({
  ...{ name: 'operator', help, actions },
  options: { ...configurationOptions, email: text, provider: text, subject: text },
  act(action, { argument, parsed, terminal: { environment } }) {
    const given = parsed.values as Partial<
      Record<'email' | 'provider' | 'subject' | 'host' | 'port', string>
    >;
    const { email = null, provider = '', subject = '', host, port } = given;
    const configuration = storeConfiguration(parsed, environment);
    const isAddressGiven = host !== undefined || port !== undefined;
    const commandOptions = { configuration, environment, actor: getAuditActor(), isAddressGiven };
    return withOperatorCommands(commandOptions, (commands) =>
      action.run({ commands, argument, email, provider, subject }),
    );
  },
});
