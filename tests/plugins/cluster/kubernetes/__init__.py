# SPDX-License-Identifier: GPL-2.0-or-later
"""A real Kubernetes cluster on this machine: control plane, and kubelets with containerd and runc.

`make kubernetes` builds its programs once. Root is needed: kubelets mount volumes and make control
groups. The image of its pods is empty: the checkout and this machine's /usr are mounted in it.
"""
