import type { User } from 'idp-client'
import { displayName } from '../lib/display-name'
import { Avatar } from './avatar'

export function UserCard({ user }: { user: User }) {
  const facts = [
    ['Given name', user.given_name],
    ['Family name', user.family_name],
    ['Nickname', user.nickname],
    ['Organisation', user.org_id],
    ['Subject', user.sub],
  ] as const
  return (
    <section className="card" aria-label="Signed-in user">
      <div className="person">
        <Avatar user={user} large />
        <div>
          <p className="person-name">
            <bdi>{displayName(user)}</bdi>
          </p>
          {user.email ? (
            <p className="person-mail">
              {user.email} <span className="badge">{user.email_verified ? 'verified' : 'not verified'}</span>
            </p>
          ) : null}
        </div>
      </div>
      <dl className="facts">
        {facts.map(([label, value]) =>
          value ? (
            <div key={label}>
              <dt>{label}</dt>
              <dd>
                <bdi>{value}</bdi>
              </dd>
            </div>
          ) : null,
        )}
      </dl>
    </section>
  )
}
