import { Link } from '@tanstack/react-router';
import { Button } from '../ui/button.tsx';
import { Mark } from '../ui/icon.tsx';

export const NotFoundPage = () => (
  <main className="alone">
    <div className="auth-card">
      <Mark size={36} />
      <h1>Page not found</h1>
      <p>
        <Link to="/">Go home</Link>, or check the URL.
      </p>
    </div>
  </main>
);

/** After an update of the service, script chunks of the old version are gone. */
export const ErrorPage = () => (
  <main className="alone">
    <div className="auth-card" role="alert">
      <Mark size={36} />
      <h1>This page failed to load</h1>
      <p>The service may have been updated. Reload to try again.</p>
      <Button kind="primary" onClick={() => window.location.reload()}>
        Reload
      </Button>
    </div>
  </main>
);
