import { onContentUpdated } from 'vitepress'
import DefaultTheme from 'vitepress/theme'
import { onMounted } from 'vue'
import './style.css'

const CHOICE = 'idp-client:tab'

/** Shows the tab with a label in every group that has it. A click would also scroll to it. */
function select(label) {
  for (const input of document.querySelectorAll(`.vp-code-group input[data-label="${CSS.escape(label)}"]`)) {
    input.checked = true
    const group = input.closest('.vp-code-group')
    const at = [...group.querySelectorAll('input')].indexOf(input)
    for (const [index, block] of [...group.querySelector('.blocks').children].entries())
      block.classList.toggle('active', index === at)
  }
}

/** One choice for all groups of tabs, on every page: a reader uses one host. */
function rememberTab(event) {
  const { label } = event.target.dataset
  if (label === undefined) return
  localStorage.setItem(CHOICE, label)
  select(label)
}

export default {
  ...DefaultTheme,
  setup() {
    onMounted(() => document.addEventListener('change', rememberTab))
    onContentUpdated(() => {
      const label = localStorage.getItem(CHOICE)
      if (label !== null) select(label)
    })
  },
}
