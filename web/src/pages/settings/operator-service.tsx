import { type FormEvent, type ReactNode, useState } from 'react';
import type { RouteOutput } from '../../../../src/control/api/contract/contract.ts';
import { formatCount } from '../../format.ts';
import { useCall, useChange } from '../../queries.ts';
import { useSession } from '../../shell/session.tsx';
import { Button } from '../../ui/button.tsx';
import { Chip } from '../../ui/chip.tsx';
import { Facts } from '../../ui/facts.tsx';
import { Fault } from '../../ui/field.tsx';
import { Panel } from '../../ui/panel.tsx';
import { Skeleton } from '../../ui/skeleton.tsx';
import { Snippet } from '../../ui/snippet.tsx';
import { Table } from '../../ui/table.tsx';
import { Ago } from '../../ui/time.tsx';
import { TextInput } from '../sign-in/text-input.tsx';

type Plan = RouteOutput<'GET /plans'>['plans'][number];

/** The service itself, for the operator: how it is configured, its plans, its checks, and other operators. */
export const OperatorService = () => (
  <div className="stack settings-wide">
    <Urls />
    <Plans />
    <Checks />
    <InviteOperator />
    <Configuration />
  </div>
);

function Urls() {
  const { service } = useSession();
  return (
    <Panel title={`Solway ${service.version}`}>
      <Facts
        facts={[
          ['HTTP', <code key="http">{service.urls.http}</code>],
          ['WebSocket', <code key="ws">{service.urls.ws}</code>],
          ['gRPC', service.urls.grpc === null ? 'switched off' : <code key="grpc">{service.urls.grpc}</code>],
          ['Network', service.network],
          ['Sign-up', service.signUp === 'open' ? 'open to anybody' : 'by invitation'],
          ['Mail', service.mail ? 'configured' : 'not configured: links are passed on by hand'],
        ]}
      />
    </Panel>
  );
}

/** `1 key`, `2 keys`. */
const countOf = (count: number, what: string): string =>
  `${formatCount(count)} ${what}${count === 1 ? '' : 's'}`;

/** A limit as it is read. */
function limitText(value: Plan['limits'][string]): ReactNode {
  if (typeof value === 'number') return value === 0 ? '0 (none)' : formatCount(value);
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  const prices = Object.entries(value);
  return prices.length === 0
    ? 'as the table has them'
    : prices.map(([name, credits]) => `${name} ${credits}`).join(', ');
}

function Plans() {
  const plans = useCall('GET /plans', {});
  return (
    <Panel title="Plans" note="They are made in the configuration, and named by customers and keys.">
      <Fault problem={plans.error} />
      {plans.data === undefined && plans.error === null ? <Skeleton /> : null}
      <div className="plans">
        {plans.data?.plans.map((plan) => (
          <details key={plan.id} className="plan">
            <summary>
              <strong>{plan.name}</strong> <span className="mono muted">{plan.id}</span>
              <span className="muted">
                {countOf(plan.customers, 'customer')}, {countOf(plan.keys, 'key')}
              </span>
            </summary>
            <Facts
              facts={Object.entries(plan.limits).map(([name, value]) => [name, limitText(value)] as const)}
            />
          </details>
        ))}
      </div>
    </Panel>
  );
}

function Checks() {
  const checks = useCall('GET /checks', {});
  return (
    <Panel title="Checks of the books" note="Each hour; all is well when none is contradicted.">
      <Fault problem={checks.error} />
      {checks.data === undefined ? (
        checks.error === null && <Skeleton />
      ) : (
        <Table
          caption="Checks of the books"
          rows={checks.data.checks}
          rowKey={({ name }) => name}
          empty={<p className="muted">None ran yet.</p>}
          columns={[
            {
              id: 'name',
              title: 'What must hold',
              sortBy: ({ name }) => name,
              cell: ({ name, example }) => (
                <>
                  {name}
                  {example === null ? null : <span className="table-second">{example}</span>}
                </>
              ),
            },
            {
              id: 'violations',
              title: 'Contradicted',
              align: 'end',
              sortBy: ({ violations }) => violations,
              cell: ({ violations }) => (
                <Chip tone={violations === 0 ? 'good' : 'bad'}>{formatCount(violations)}</Chip>
              ),
            },
            {
              id: 'ran',
              title: 'Ran',
              sortBy: ({ ranAt }) => ranAt,
              cell: ({ ranAt }) => <Ago at={ranAt} />,
            },
          ]}
        />
      )}
    </Panel>
  );
}

function InviteOperator() {
  const [email, setEmail] = useState('');
  const invite = useChange('POST /operators/invitations');
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    invite.mutate({ body: { email } });
  };
  return (
    <Panel title="Another operator" note="Operators may everything, with every customer.">
      <form onSubmit={submit} className="stack form">
        <TextInput
          label="E-mail"
          name="email"
          type="email"
          value={email}
          onChange={setEmail}
          problem={invite.error}
        />
        <Fault problem={invite.error} />
        <div>
          <Button type="submit" busy={invite.isPending}>
            Invite an operator
          </Button>
        </div>
      </form>
      {invite.data === undefined ? null : (
        <>
          <p>Pass this link on; it is shown only now, and works once.</p>
          <Snippet text={invite.data.link} label="the link" />
        </>
      )}
    </Panel>
  );
}

/** Lets the gateway that serves this page read its configuration again. */
function ReloadConfiguration() {
  const reload = useChange('POST /reload');
  const { changed = [], restart = [] } = reload.data ?? {};
  return (
    <div className="stack-tight">
      <div>
        <Button busy={reload.isPending} onClick={() => reload.mutate({})}>
          Read it again
        </Button>
      </div>
      <Fault problem={reload.error} />
      {reload.data === undefined ? null : (
        <p role="status">
          {changed.length === 0 ? 'Nothing else is in force.' : `In force now: ${changed.join(', ')}.`}
          {restart.length === 0 ? null : ` These need a restart: ${restart.join(', ')}.`}
        </p>
      )}
    </div>
  );
}

function Configuration() {
  const settings = useCall('GET /settings', {});
  return (
    <Panel
      title="Configuration in force"
      note={
        settings.data === undefined ? null : settings.data.file === null ? (
          'No file: defaults, environment and command line.'
        ) : (
          <>
            From <code>{settings.data.file}</code>; without its secrets.
          </>
        )
      }
    >
      <ReloadConfiguration />
      <Fault problem={settings.error} />
      {settings.data === undefined ? (
        settings.error === null && <Skeleton />
      ) : (
        <Snippet text={JSON.stringify(settings.data.configuration, null, 2)} label="the configuration" />
      )}
    </Panel>
  );
}
