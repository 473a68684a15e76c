# SPDX-License-Identifier: MIT
. /test/rest
