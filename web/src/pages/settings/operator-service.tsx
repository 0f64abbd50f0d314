import { type FormEvent, useState } from 'react';
import { useCall, useChange } from '../../queries.ts';
import { useSession } from '../../shell/session.tsx';
import { Button } from '../../ui/button.tsx';
import { Facts } from '../../ui/facts.tsx';
import { FormError } from '../../ui/field.tsx';
import { Panel } from '../../ui/panel.tsx';
import { Skeleton } from '../../ui/skeleton.tsx';
import { Snippet } from '../../ui/snippet.tsx';
import { Checks } from '../audit/checks.tsx';
import { TextInput } from '../sign-in/text-input.tsx';

export const OperatorService = () => (
  <div className="stack settings-wide">
    <Urls />
    <Panel title="Consistency checks" note="Run hourly on usage records.">
      <Checks />
    </Panel>
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
          ['gRPC', service.urls.grpc === null ? 'Disabled' : <code key="grpc">{service.urls.grpc}</code>],
          ['Default network', service.network],
          ['Networks', service.networks.join(', ')],
          ['Sign-up', service.signUp === 'open' ? 'Open' : 'Invitation only'],
          ['Email', service.mail ? 'Configured' : 'Not configured; share links manually'],
        ]}
      />
    </Panel>
  );
}

function InviteOperator() {
  const { service } = useSession();
  const [email, setEmail] = useState('');
  const invite = useChange('POST /operators/invitations');
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    invite.mutate({ body: { email } });
  };
  return (
    <Panel title="Invite operator" note="Operators have full access to all customers.">
      <form onSubmit={submit} className="stack form">
        <TextInput
          label="Email"
          name="email"
          type="email"
          value={email}
          onChange={setEmail}
          problem={invite.error}
        />
        <FormError problem={invite.error} />
        <div>
          <Button type="submit" busy={invite.isPending}>
            {service.mail ? 'Send invitation' : 'Create invitation link'}
          </Button>
        </div>
      </form>
      {invite.data === undefined ? null : (
        <>
          <p>Share this link. It works once and will not be shown again.</p>
          <Snippet text={invite.data.link} label="invitation link" />
        </>
      )}
    </Panel>
  );
}

function ReloadConfiguration() {
  const reload = useChange('POST /reload');
  const { changed = [], restart = [] } = reload.data ?? {};
  return (
    <div className="stack-tight">
      <div>
        <Button busy={reload.isPending} onClick={() => reload.mutate({})}>
          Reload configuration
        </Button>
      </div>
      <FormError problem={reload.error} />
      {reload.data === undefined ? null : (
        <p role="status">
          {changed.length === 0 ? 'No changes.' : `Applied: ${changed.join(', ')}.`}
          {restart.length === 0 ? null : ` Restart required: ${restart.join(', ')}.`}
        </p>
      )}
    </div>
  );
}

function Configuration() {
  const settings = useCall('GET /settings', {});
  return (
    <Panel
      title="Active configuration"
      note={
        settings.data === undefined ? null : settings.data.file === null ? (
          'No configuration file. Values come from defaults, environment variables, and the command line.'
        ) : (
          <>
            From <code>{settings.data.file}</code>. Secrets are hidden.
          </>
        )
      }
    >
      <ReloadConfiguration />
      <FormError problem={settings.error} />
      {settings.data === undefined ? (
        settings.error === null && <Skeleton />
      ) : (
        <Snippet text={JSON.stringify(settings.data.configuration, null, 2)} label="configuration" />
      )}
    </Panel>
  );
}
