// The types of the three entries, beside those of the frameworks.
import { useUser as useSolidUser } from 'idp-client/solid'
import { useUser as useSvelteUser } from 'idp-client/svelte'
import { mockUser } from 'idp-client/testing/browser'
import { useUser as useVueUser } from 'idp-client/vue'
import type { Accessor } from 'solid-js'
import type { Readable } from 'svelte/store'
import type { ComputedRef } from 'vue'

export function types(): void {
  const name: ComputedRef<string | undefined | null> = {} as never
  const vue: ComputedRef<{ readonly sub: string } | null> = useVueUser().user
  const svelte: Readable<{ readonly isLoading: boolean }> = useSvelteUser()
  const solid: Accessor<{ readonly sub: string } | null> = useSolidUser({ route: '/me' }).user
  const restore: () => void = mockUser({ user: { sub: 'alice' } })
  void [name, vue, svelte, solid, restore]
}
